import { useQuery } from '@tanstack/react-query';
import type { ComponentType } from 'react';
import { type RouteObject, useParams } from 'react-router';
import { Skeleton } from '../ui/index.ts';
import { CrashPage, NotFound } from './unexpected.tsx';

/** A page whose code is loaded when it is opened: again after an error, and once there is a network. */
export function page(path: string, load: () => Promise<ComponentType>): RouteObject {
  function LoadedPage() {
    const { id } = useParams();
    const { data, error, refetch } = useQuery({
      queryKey: ['code', path],
      queryFn: async () => ({ Content: await load() }),
      staleTime: Number.POSITIVE_INFINITY,
      gcTime: Number.POSITIVE_INFINITY,
      retry: 1,
    });
    if (id !== undefined && !/^\d{1,9}$/.test(id)) return <NotFound />;
    if (data) return <data.Content />;
    return error ? <CrashPage retry={refetch} /> : <Skeleton />;
  }
  return { path, Component: LoadedPage };
}
