import { useId, useRef } from 'preact/hooks';
import type { Upload, Uploads } from '../hooks/use-uploads.ts';
import { useLanguage } from '../texts/language.tsx';
import { ErrorTexts } from './field.tsx';
import { useFieldErrors, useItemErrors } from './form.tsx';
import { Image } from './image.tsx';
import { describeError } from './states.tsx';

const maxImages = 10;

/** The images of a post, which are uploaded as soon as they are chosen. */
export function ImageFields({ images }: { images: Uploads }) {
  const { t } = useLanguage();
  const id = useId();
  const input = useRef<HTMLInputElement>(null);
  const errors = useFieldErrors('images');
  const room = maxImages - images.uploads.length;
  return (
    <fieldset class="stack field" aria-describedby={`${id}-hint`}>
      <legend>
        {t.images.title} <span class="optional">{t.common.optional}</span>
      </legend>
      <p class="hint" id={`${id}-hint`}>
        {t.images.hint}
      </p>
      {images.uploads.length > 0 && (
        <ul class="uploads">
          {images.uploads.map((upload, index) => (
            <ImageField
              key={upload.id}
              upload={upload}
              index={index}
              onRemove={() => {
                images.remove(upload.id);
                input.current?.focus();
              }}
            />
          ))}
        </ul>
      )}
      {images.uploads.length === 0 && <ErrorTexts id={`${id}-error`} errors={errors} />}
      <input
        ref={input}
        class="file"
        type="file"
        accept="image/jpeg,image/png,image/webp"
        multiple
        disabled={room <= 0}
        aria-label={t.images.add}
        onChange={({ currentTarget }) => {
          images.add(Array.from(currentTarget.files ?? []).slice(0, room));
          // So that the same file can be chosen again.
          currentTarget.value = '';
        }}
      />
    </fieldset>
  );
}

interface ImageFieldProps {
  upload: Upload;
  index: number;
  onRemove: () => void;
}

function ImageField({ upload, index, onRemove }: ImageFieldProps) {
  const { t } = useLanguage();
  const id = useId();
  const { preview, progress, url, error } = upload;
  const refused = useItemErrors('images', index);
  const errors = error === undefined ? refused : [describeError(error, t)];
  const name = t.images.label(index + 1);
  return (
    <li class="upload" aria-invalid={errors.length > 0} aria-describedby={errors.length > 0 ? id : undefined}>
      <Image url={preview} alt={name} />
      {url === undefined && error === undefined && (
        <progress max={1} value={progress} aria-label={t.images.uploading(index + 1)} />
      )}
      <ErrorTexts id={id} errors={errors} />
      <button type="button" class="button" onClick={onRemove}>
        {t.common.remove}
        <span class="visually-hidden"> {name}</span>
      </button>
    </li>
  );
}
