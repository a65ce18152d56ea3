export { useLiveNotifications } from './live.ts';
export { useMutation } from './mutations.ts';
export { DureProvider, type SessionState, useDure } from './provider.tsx';
export { useInfiniteList, useObject, useSession } from './queries.ts';
export { queryKey } from './query-key.ts';
