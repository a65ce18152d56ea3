/** The parts that all pages are made of. */
export * from './button.tsx';
export * from './dialog.tsx';
export * from './errors.ts';
export * from './facts.tsx';
export * from './fields.tsx';
export * from './form.tsx';
export * from './icons.tsx';
export * from './page.tsx';
export * from './states.tsx';
