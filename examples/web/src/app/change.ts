import type { OperationId, Output } from '@dure/client';
import { type CallOptions, type Input, isApiError, type Method } from '@dure/client';
import { type ComponentType, createElement } from 'react';
import { createCallable } from 'react-call';
import { toast } from 'react-hot-toast/headless';
import { dure, queryClient } from '../api.ts';
import { m } from '../paraglide/messages.js';
import { InputError } from '../ui/errors.ts';
import type { ConfirmationProps } from './confirmation.tsx';

/** Where the dialog appears. Its code is loaded first, by the action that needs it, which shows an error about it. */
export const Confirmation = createCallable<
  { methods: string[]; Content: ComponentType<ConfirmationProps> },
  string | null
>(({ call, methods, Content }) => createElement(Content, { methods, onEnd: call.end }));

/** Changes something with any operation, shows the service's text about it, and reads again what is shown, also when that was old. */
export async function change<Id extends OperationId>(
  { operation }: Method<Id>,
  input: Input<Id>,
  options?: CallOptions,
): Promise<Output<Id>> {
  try {
    const { data, message } = await confirmed((password) =>
      dure.request(operation, { ...input, ...password }, options),
    );
    toast(message);
    readAgain();
    return data;
  } catch (error) {
    if (isApiError(error) && error.code === 'precondition_failed') readAgain();
    throw error;
  }
}

/** Runs an action; where the service wants to know first who is there, asks the user, and runs it again. */
export async function confirmed<Result>(
  action: (password?: { password: string }) => Promise<Result>,
): Promise<Result> {
  try {
    return await action();
  } catch (error) {
    if (!isApiError(error)) throw error;
    const { data, fields } = error;
    // Operations that take a password need it of all accounts that have one.
    const methods = fields['password'] ? ['password'] : 'methods' in data && data.methods;
    if (!Array.isArray(methods)) throw error;
    const { ConfirmationDialog } = await import('./confirmation.tsx').catch(() => {
      throw new InputError(m.a_part_could_not_be_loaded());
    });
    const password = await Confirmation.call({ methods, Content: ConfirmationDialog });
    if (password === null) throw new DOMException('not confirmed', 'AbortError');
    return action(fields['password'] && { password });
  }
}

/** Also what is being read for the first time, whose answer may be from before a change. */
export function readAgain(): void {
  const shown = { queryKey: ['dure'] };
  void queryClient.cancelQueries(shown).then(() => queryClient.invalidateQueries(shown));
}
