import { Content, Description, Portal, Root, Title } from '@radix-ui/react-dialog';
import { type ReactNode, useState } from 'react';
import type { FieldValues } from 'react-hook-form';
import { m } from '../paraglide/messages.js';
import { Button, type ButtonProps } from './button.tsx';
import { Form, type FormProps } from './form.tsx';
import './dialog.css';

interface DialogProps {
  title: string;
  text?: string | undefined;
  onClose: () => void;
  children: ReactNode;
}

/** A dialog that is open while it is rendered. */
export function Dialog({ title, text, onClose, children }: DialogProps) {
  const [opener] = useState(() => document.activeElement);
  return (
    <Root open onOpenChange={onClose}>
      <Portal>
        {/* Its Overlay would write a style into the page, which the policy of the page forbids. */}
        <Content
          className="dialog stack"
          onCloseAutoFocus={(event) => {
            event.preventDefault();
            if (opener instanceof HTMLElement) opener.focus();
          }}
          {...(text ? {} : { 'aria-describedby': undefined })}>
          <Title>{title}</Title>
          {text && <Description>{text}</Description>}
          {children}
        </Content>
      </Portal>
    </Root>
  );
}

type AskButtonProps<Values extends FieldValues> = Pick<ButtonProps, 'about' | 'look'> &
  Partial<Pick<DialogProps, 'title' | 'text'>> &
  Pick<FormProps<Values>, 'danger' | 'values' | 'children'> & {
    label: string;
    confirmLabel?: string;
    onConfirm: FormProps<Values>['onSubmit'];
  };

/** A button that opens a dialog, which asks before something happens. */
export function AskButton<Values extends FieldValues>(props: AskButtonProps<Values>) {
  const { label, about, title = label, text, confirmLabel = label, onConfirm, ...form } = props;
  const { look = form.danger ? 'danger' : '' } = props;
  const [isOpen, setOpen] = useState(false);
  const close = () => setOpen(false);
  return (
    <>
      <Button label={label} about={about} look={look} onClick={() => setOpen(true)} />
      {isOpen && (
        <Dialog title={title} text={text} onClose={close}>
          <Form
            {...form}
            submitLabel={confirmLabel}
            onSubmit={(...input) => onConfirm(...input).then(close)}
            actions={<Button label={m.cancel()} onClick={close} />}
          />
        </Dialog>
      )}
    </>
  );
}
