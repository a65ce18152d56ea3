/** The parts that all pages are made of. */
export { Button, ButtonLink } from './button.tsx';
export { AskButton, Card } from './card.tsx';
export { CancelButton, Dialog } from './dialog.tsx';
export { attempt, describeError, InputError, showError } from './errors.ts';
export { Facts, Image, Time } from './facts.tsx';
export {
  Checkbox,
  CodeField,
  ErrorTexts,
  PasswordField,
  TextArea,
  TextField,
  UsernameField,
} from './fields.tsx';
export { Fieldset } from './fieldset.tsx';
export { Form, useFieldErrors } from './form.tsx';
export { Icon } from './icons.tsx';
export { Item } from './item.tsx';
export { Page, Tabs } from './page.tsx';
export { Empty, List, LoadError, Loaded, Skeleton } from './states.tsx';
