export { useLiveNotifications } from './live.ts';
export { useMutation } from './mutations.ts';
export { DureProvider, type SessionState, useDure } from './provider.tsx';
export { queryKey, useInfiniteList, useObject, useSession } from './queries.ts';
