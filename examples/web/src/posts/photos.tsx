import { useEffect, useRef } from 'react';
import { useController } from 'react-hook-form';
import { toast } from 'react-hot-toast/headless';
import { dure } from '../api.ts';
import { m } from '../paraglide/messages.js';
import { Fieldset } from '../ui/fields.tsx';
import { Button, describeError, InputError } from '../ui/index.ts';
import { Photo } from './photo.tsx';
import './photos.css';

interface Upload {
  file: File;
  url: Promise<string>;
  error?: string;
}

const maxPhotos = 10;
const longestSide = 2_000;

/** By the address of the preview, which stands for the photo until its upload ends; also once the form was left. */
const uploads = new Map<string, Upload>();
let last: Promise<unknown> = Promise.resolve();

/** One after another: the service takes two uploads of a user at a time. */
function upload(preview: string, file: File): Promise<string> {
  const url = last
    .catch(() => undefined)
    .then(async () => (await dure.images.upload({ image: await shrink(file) })).url);
  last = url;
  uploads.set(preview, { file, url });
  return url;
}

function forget(preview: string): void {
  if (uploads.delete(preview)) URL.revokeObjectURL(preview);
}

/** Waits for the uploads. @returns the URLs at the service @throws the error of one that failed */
export function uploadedUrls(photos: string[]): Promise<string[]> {
  return Promise.all(photos.map((photo) => uploads.get(photo)?.url ?? photo));
}

/** Photos of a phone are ten times as large as what is shown. @throws InputError for what the browser cannot open */
async function shrink(file: File): Promise<Blob> {
  const bitmap = await createImageBitmap(file, { imageOrientation: 'from-image' }).catch(() => {
    throw new InputError(m.this_browser_cannot_open_the());
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

/** Uploads photos as soon as they are chosen. The field has their URLs; of one that is on its way, the address of its preview. */
export function PhotoFields() {
  const { field } = useController({ name: 'images' });
  const input = useRef<HTMLInputElement>(null);
  const photos: string[] = field.value;
  const newest = useRef(photos);
  newest.current = photos;
  useEffect(() => {
    // Of a draft: a preview is gone after a reload, and what has failed is not tried again.
    const isLost = (photo: string) =>
      photo.startsWith('blob:') && (uploads.get(photo)?.error ?? !uploads.has(photo));
    if (photos.some(isLost)) change(photos.filter((photo) => !isLost(photo)));
    for (const photo of newest.current) {
      const sent = uploads.get(photo);
      if (sent) follow(photo, sent.url);
    }
  }, []);

  function change(photos: string[]) {
    newest.current = photos;
    field.onChange(photos);
  }
  async function follow(preview: string, sent: Promise<string>) {
    const url = await sent.catch((error: unknown) => {
      const failed = uploads.get(preview);
      if (failed) uploads.set(preview, { ...failed, error: describeError(error) });
      return preview;
    });
    // Where this form was left, the next one that has its draft follows the upload.
    if (input.current === null) return;
    change(newest.current.map((photo) => (photo === preview ? url : photo)));
    if (url !== preview) forget(preview);
  }
  function add(files: File[]) {
    const room = maxPhotos - photos.length;
    if (files.length > room) toast(m.a_post_can_have_ten());
    const added = files.slice(0, room).map((file) => {
      const preview = URL.createObjectURL(file);
      follow(preview, upload(preview, file));
      return preview;
    });
    change([...photos, ...added]);
  }
  function sendAgain(preview: string, file: File) {
    follow(preview, upload(preview, file));
    change([...photos]);
  }
  function moveForward(index: number) {
    const [before, photo] = photos.slice(index - 1, index + 1);
    if (before && photo) change([...photos.slice(0, index - 1), photo, before, ...photos.slice(index + 1)]);
  }
  function remove(photo: string) {
    change(photos.filter((one) => one !== photo));
    forget(photo);
    input.current?.focus();
  }

  return (
    <Fieldset
      name="images"
      label={m.photos()}
      optional
      hint={m.up_to_ten_the_first()}
      show={(value) => m.photos_2({ length: Array.isArray(value) ? value.length : 0 })}>
      <ul className="uploads">
        {photos.map((photo, index) => {
          const name = m.photo({ number: index + 1 });
          const { error, file } = uploads.get(photo) ?? {};
          return (
            <li className="upload" key={photo}>
              <Photo url={photo} number={index + 1} />
              {file && !error && <progress aria-label={m.uploading({ name })} />}
              <p className="field-error" role="alert">
                {error}
              </p>
              <div className="row">
                {file && error && (
                  <Button label={m.try_again()} about={name} onClick={() => sendAgain(photo, file)} />
                )}
                {index > 0 && <Button label={m.forward()} about={name} onClick={() => moveForward(index)} />}
                <Button label={m.remove_2()} about={name} onClick={() => remove(photo)} />
              </div>
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
            {m.add_photos()}
          </label>
        </li>
      </ul>
    </Fieldset>
  );
}
