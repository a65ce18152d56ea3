import {
  Bell,
  ChevronLeft,
  Handshake,
  KeyRound,
  type LucideProps,
  Search,
  Store,
  UserRound,
  X,
} from 'lucide-react';

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

interface IconProps extends Pick<LucideProps, 'size'> {
  name: keyof typeof icons;
}

/** A drawing beside a text that says the same. */
export function Icon({ name, size = 24 }: IconProps) {
  const Drawing = icons[name];
  return <Drawing aria-hidden="true" size={size} strokeWidth={1.9} />;
}
