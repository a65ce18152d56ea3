const paths = {
  search: 'M17.5 11a6.5 6.5 0 1 1-13 0 6.5 6.5 0 0 1 13 0ZM16 16l4.5 4.5',
  requests: 'M14.5 12a5.5 5.5 0 1 1-11 0 5.5 5.5 0 0 1 11 0ZM20.5 12a5.5 5.5 0 1 1-11 0 5.5 5.5 0 0 1 11 0Z',
  bell: 'M6 16.5V11a6 6 0 0 1 12 0v5.5l1.5 1.5h-15zM10 21h4',
  store:
    'M4.5 10.5V20h15v-9.5M3.5 9 5 4h14l1.5 5a2.8 2.8 0 0 1-5.6 0 2.8 2.8 0 0 1-5.8 0A2.8 2.8 0 0 1 3.5 9ZM10 20v-5h4v5',
  account: 'M16 8a4 4 0 1 1-8 0 4 4 0 0 1 8 0ZM4.5 20.5a7.5 7.5 0 0 1 15 0',
  passkey:
    'M13 7.5a4 4 0 1 1-8 0 4 4 0 0 1 8 0ZM2.5 20a6.5 6.5 0 0 1 10-5.5M17.5 14.5V21l1.5-1.5M20.5 11.5a3 3 0 1 1-6 0 3 3 0 0 1 6 0Z',
  close: 'm6 6 12 12M18 6 6 18',
  back: 'm14.5 5-7 7 7 7',
};

/** A drawing beside a text that says the same. */
export function Icon({ name, size = 24 }: { name: keyof typeof paths; size?: number }) {
  return (
    <svg
      aria-hidden="true"
      width={size}
      height={size}
      viewBox="0 0 24 24"
      fill="none"
      stroke="currentColor"
      strokeWidth="1.9"
      strokeLinecap="round"
      strokeLinejoin="round"
    >
      <path d={paths[name]} />
    </svg>
  );
}
