import type { ReactNode } from 'react';

export function ConfirmationProvider({ children }: { children: ReactNode }) {
  return children;
}
