import type { ComponentChildren } from 'preact';

function Icon({ children, size = 24 }: { children: ComponentChildren; size?: number }) {
  return (
    <svg
      aria-hidden="true"
      width={size}
      height={size}
      viewBox="0 0 24 24"
      fill="none"
      stroke="currentColor"
      stroke-width="1.9"
      stroke-linecap="round"
      stroke-linejoin="round"
    >
      {children}
    </svg>
  );
}

/** Two rings that share a part: neighbours who work together. */
export function Logo() {
  return <img src="/icon.svg" alt="" width="32" height="32" />;
}

export function SearchIcon() {
  return (
    <Icon>
      <circle cx="11" cy="11" r="6.5" />
      <path d="m16 16 4.5 4.5" />
    </Icon>
  );
}

export function RequestsIcon() {
  return (
    <Icon>
      <circle cx="9" cy="12" r="5.5" />
      <circle cx="15" cy="12" r="5.5" />
    </Icon>
  );
}

export function BellIcon() {
  return (
    <Icon>
      <path d="M6 16.5V11a6 6 0 0 1 12 0v5.5l1.5 1.5h-15zM10 21h4" />
    </Icon>
  );
}

export function StoreIcon({ size = 24 }: { size?: number }) {
  return (
    <Icon size={size}>
      <path d="M4.5 10.5V20h15v-9.5M3.5 9 5 4h14l1.5 5a2.8 2.8 0 0 1-5.6 0 2.8 2.8 0 0 1-5.8 0A2.8 2.8 0 0 1 3.5 9ZM10 20v-5h4v5" />
    </Icon>
  );
}

export function AccountIcon() {
  return (
    <Icon>
      <circle cx="12" cy="8" r="4" />
      <path d="M4.5 20.5a7.5 7.5 0 0 1 15 0" />
    </Icon>
  );
}

export function PasskeyIcon() {
  return (
    <Icon>
      <circle cx="9" cy="7.5" r="4" />
      <path d="M2.5 20a6.5 6.5 0 0 1 10-5.5M17.5 14.5V21l1.5-1.5" />
      <circle cx="17.5" cy="11.5" r="3" />
    </Icon>
  );
}

export function CloseIcon() {
  return (
    <svg aria-hidden="true" width="20" height="20" viewBox="0 0 24 24" style="margin:auto">
      <path d="m6 6 12 12M18 6 6 18" stroke="currentColor" stroke-width="2" stroke-linecap="round" />
    </svg>
  );
}

export function BackIcon() {
  return (
    <Icon size={18}>
      <path d="m14.5 5-7 7 7 7" />
    </Icon>
  );
}
