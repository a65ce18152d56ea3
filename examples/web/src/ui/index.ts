export * from './button.tsx';
export * from './dialog.tsx';
export * from './errors.ts';
export * from './facts.tsx';
export * from './form.tsx';
export * from './page.tsx';
export * from './states.tsx';
