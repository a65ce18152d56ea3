import { useEffect, useRef, useState } from 'preact/hooks';
import { dure } from '../api.ts';

/** An image of a form. */
export interface Upload {
  /** Unique within the form. */
  id: number;
  /** What to show: the file itself until the service has it. */
  preview: string;
  /** 0 to 1. */
  progress: number;
  /** Where the service keeps it; undefined while it is uploaded, and after an error. */
  url?: string;
  error?: unknown;
}

export interface Uploads {
  uploads: Upload[];
  add(files: Iterable<File>): void;
  remove(id: number): void;
  /**
   * Waits for the uploads.
   *
   * @returns the URLs of all images
   * @throws the error of an upload that failed
   */
  finished(): Promise<string[]>;
}

/**
 * Uploads images while the rest of the form is filled in. An image that is removed again stays at the service, which deletes
 * what no post uses.
 *
 * @param urls of images that the post has already
 */
export function useUploads(urls: string[]): Uploads {
  const [uploads, setUploads] = useState<Upload[]>(() =>
    urls.map((url, index) => ({ id: -index - 1, preview: url, progress: 1, url })),
  );
  const newest = useRef(uploads);
  newest.current = uploads;
  const running = useRef(new Map<number, { controller: AbortController; work: Promise<void> }>()).current;
  const counter = useRef(0);
  // The service accepts two uploads of a user at once.
  const rows = useRef([Promise.resolve(), Promise.resolve()]).current;

  useEffect(
    () => () => {
      for (const { controller } of running.values()) controller.abort();
      for (const { preview } of newest.current) URL.revokeObjectURL(preview);
    },
    [running],
  );

  function change(id: number, changes: Partial<Upload>) {
    newest.current = newest.current.map((upload) => (upload.id === id ? { ...upload, ...changes } : upload));
    setUploads(newest.current);
  }

  async function start(id: number, image: File, signal: AbortSignal) {
    const onUploadProgress = ({ loaded, total }: { loaded: number; total: number }) =>
      change(id, { progress: loaded / total });
    try {
      const { url } = await dure.images.upload({ image }, { signal, onUploadProgress });
      change(id, { url, progress: 1 });
    } catch (error) {
      change(id, { error });
    } finally {
      running.delete(id);
    }
  }

  return {
    uploads,
    add(files) {
      for (const file of files) {
        counter.current += 1;
        const id = counter.current;
        newest.current = [...newest.current, { id, preview: URL.createObjectURL(file), progress: 0 }];
        const controller = new AbortController();
        const work = (rows[id % 2] ?? Promise.resolve()).then(() => start(id, file, controller.signal));
        rows[id % 2] = work;
        running.set(id, { controller, work });
      }
      setUploads(newest.current);
    },
    remove(id) {
      running.get(id)?.controller.abort();
      const removed = newest.current.find((upload) => upload.id === id);
      if (removed) URL.revokeObjectURL(removed.preview);
      newest.current = newest.current.filter((upload) => upload.id !== id);
      setUploads(newest.current);
    },
    async finished() {
      await Promise.all([...running.values()].map(({ work }) => work));
      for (const { error } of newest.current) if (error !== undefined) throw error;
      return newest.current.flatMap(({ url }) => url ?? []);
    },
  };
}
