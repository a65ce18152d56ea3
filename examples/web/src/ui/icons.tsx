import { Bell, ChevronLeft, Handshake, KeyRound, Search, Store, UserRound, X } from 'lucide-react';

const icons = {
  search: Search,
  requests: Handshake,
  bell: Bell,
  store: Store,
  account: UserRound,
  passkey: KeyRound,
  close: X,
  back: ChevronLeft,
};

/** A drawing beside a text that says the same. */
export function Icon({ name, size = 24 }: { name: keyof typeof icons; size?: number }) {
  const Drawing = icons[name];
  return <Drawing aria-hidden="true" size={size} strokeWidth={1.9} />;
}
