import { useMutation } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { toast } from 'react-hot-toast/headless';
import { dure } from '../api.ts';
import { t } from '../text.ts';
import { Button, describeError, Fieldset, Image, InputError } from '../ui/index.ts';

interface Photo {
  /** Where it can be seen: the file itself, or the URL at the service. Unique. */
  preview: string;
  /** Its URL at the service, also once the upload has ended. */
  upload: Promise<string>;
  url?: string;
  error?: string;
}

const maxPhotos = 10;
const longestSide = 2_000;

/** Photos of a phone are ten times as large as what is shown. @throws InputError for what the browser cannot open */
async function shrink(file: File): Promise<Blob> {
  const bitmap = await createImageBitmap(file, { imageOrientation: 'from-image' }).catch(() => {
    throw new InputError(
      t(
        '이 브라우저에서 열 수 없는 사진입니다. JPEG나 PNG로 저장해 다시 골라 주세요. HEIC 사진은 iPhone에서 바로 올리시거나, iPhone의 설정 > 카메라 > 포맷에서 ‘높은 호환성’을 고르고 찍어 주세요.',
        'This browser cannot open the photo. Save it as JPEG or PNG and choose it again. HEIC: add it on your iPhone, or choose Settings > Camera > Formats > Most Compatible there before you take photos.',
      ),
    );
  });
  const scale = Math.min(1, longestSide / Math.max(bitmap.width, bitmap.height));
  const canvas = new OffscreenCanvas(Math.ceil(bitmap.width * scale), Math.ceil(bitmap.height * scale));
  const context = canvas.getContext('2d');
  if (context === null) throw new Error('No canvas');
  // Behind what is transparent, which JPEG does not know.
  context.fillStyle = 'white';
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.drawImage(bitmap, 0, 0, canvas.width, canvas.height);
  bitmap.close();
  return canvas.convertToBlob({ type: 'image/jpeg', quality: 0.88 });
}

/**
 * The photos of a form, which are uploaded as soon as they are chosen. The service deletes those that no post uses.
 *
 * @param draft names the form, whose photos this tab keeps until {@link usePhotos.forget}
 * @param saved those that the post has already
 */
export function usePhotos(draft: string, saved: string[]) {
  const storageKey = `dure.photos.${draft}`;
  const [photos, setPhotos] = useState<Photo[]>(() => {
    const urls: string[] = JSON.parse(sessionStorage.getItem(storageKey) ?? JSON.stringify(saved));
    return urls.map((url) => ({ preview: url, upload: Promise.resolve(url), url }));
  });
  const newest = useRef(photos);
  const { mutateAsync } = useMutation({
    mutationFn: async (file: File) => dure.images.upload({ image: await shrink(file) }),
    // One after another: the service takes two uploads of a user at a time.
    scope: { id: 'photos' },
  });

  // An upload may end after the user has left the form.
  function change(photos: Photo[]) {
    newest.current = photos;
    setPhotos(photos);
    sessionStorage.setItem(storageKey, JSON.stringify(photos.flatMap(({ url }) => url ?? [])));
  }
  function settle(preview: string, result: Pick<Photo, 'url' | 'error'>) {
    change(newest.current.map((photo) => (photo.preview === preview ? { ...photo, ...result } : photo)));
  }
  function add(files: File[]) {
    const room = maxPhotos - photos.length;
    if (files.length > room) toast(t('사진은 열 장까지 올릴 수 있습니다.', 'A post can have ten photos.'));
    const added = files.slice(0, room).map((file) => {
      const preview = URL.createObjectURL(file);
      const upload = mutateAsync(file).then(({ url }) => url);
      upload.then(
        (url) => settle(preview, { url }),
        (error) => settle(preview, { error: describeError(error) }),
      );
      return { preview, upload };
    });
    change([...photos, ...added]);
  }
  return {
    photos,
    add,
    remove: (removed: Photo) => change(photos.filter((photo) => photo !== removed)),
    /** Waits for the uploads. @returns the URLs @throws the error of one that failed */
    uploaded: () => Promise.all(photos.map(({ upload }) => upload)),
    forget: () => sessionStorage.removeItem(storageKey),
  };
}

/** Shows the photos of a form, and adds and removes them. */
export function PhotoFields({ photos, add, remove }: ReturnType<typeof usePhotos>) {
  const input = useRef<HTMLInputElement>(null);
  return (
    <Fieldset
      name="images"
      legend={t('사진', 'Photos')}
      optional
      hint={t(
        '열 장까지 올릴 수 있습니다. 첫 번째가 대표 사진입니다.',
        'Up to ten. The first one is shown in lists.',
      )}
    >
      <ul className="uploads">
        {photos.map((photo, index) => {
          const name = t(`사진 ${index + 1}`, `Photo ${index + 1}`);
          return (
            <li className="upload" key={photo.preview}>
              <Image url={photo.preview} alt={name} />
              {!photo.url && !photo.error && (
                <progress aria-label={t(`${name} 올리는 중`, `Uploading ${name}`)} />
              )}
              <p className="field-error" role="alert">
                {photo.error}
              </p>
              <Button
                label={t('지우기', 'Remove')}
                about={name}
                onClick={() => {
                  remove(photo);
                  input.current?.focus();
                }}
              />
            </li>
          );
        })}
        <li>
          <label className="photo-add">
            <input
              ref={input}
              className="visually-hidden"
              type="file"
              accept="image/*"
              multiple
              disabled={photos.length >= maxPhotos}
              onChange={({ currentTarget }) => {
                add([...(currentTarget.files ?? [])]);
                // So that the same file can be chosen again.
                currentTarget.value = '';
              }}
            />
            {t('사진 추가', 'Add photos')}
          </label>
        </li>
      </ul>
    </Fieldset>
  );
}
