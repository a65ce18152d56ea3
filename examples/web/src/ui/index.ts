/** The parts that all pages are made of. */
export { Button, ButtonLink } from './button.tsx';
export { AskButton, CancelButton, Dialog } from './dialog.tsx';
export { attempt, describeError, InputError, isCancelled, showError } from './errors.ts';
export { Facts, Image, Item, Time } from './facts.tsx';
export {
  Checkbox,
  CodeField,
  ErrorText,
  Fieldset,
  PasswordField,
  Select,
  TextArea,
  TextField,
  UsernameField,
} from './fields.tsx';
export { Form, type FormProps } from './form.tsx';
export { Icon } from './icons.tsx';
export { Card, Page, Tabs, useVisited } from './page.tsx';
export { Empty, List, LoadError, Loaded, Skeleton, useHeldBack } from './states.tsx';
