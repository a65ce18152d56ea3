import { isApiError, type User } from '@dure/client';
import { useMutation, useSession } from '@dure/react';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Navigate, useLocation, useNavigate, useSearchParams } from 'react-router';
import { dure } from '../api.ts';
import { change } from '../app/change.ts';
import { m } from '../paraglide/messages.js';
import { EmailField } from '../ui/fields.tsx';
import { ButtonLink, Form, Loaded, Page, Skeleton } from '../ui/index.ts';
import { NewPasswordField } from './fields.tsx';
import { proofs, type SignUpState } from './sign-up.tsx';

/** Sends the username or a link for a new password. The response is the same for any address. */
export function RequestEmail() {
  const { pathname, state: reason }: { pathname: string; state: string | null } = useLocation();
  const [response, setResponse] = useState('');
  const isName = pathname.startsWith('/find-id');
  const title = isName ? m.forgot_username() : m.forgot_password();
  const lead = isName ? m.enter_your_email_and_we() : m.enter_your_email_and_we_2();

  async function send(entered: { email: string }) {
    setResponse('');
    const { message } = await dure.request(isName ? 'findUserId' : 'requestPasswordReset', entered);
    setResponse(message);
  }

  return (
    <Page title={title} lead={lead} width="form-page" back={{ to: '/login', label: m.log_in() }}>
      {reason && !response && <p className="note warn">{reason}</p>}
      <Form
        values={{ email: '' }}
        submitLabel={isName ? m.send_my_username() : m.send_a_link()}
        onSubmit={send}>
        <EmailField />
      </Form>
      <div role="status">{response && <p className="note">{response}</p>}</div>
    </Page>
  );
}

export function ResetPassword() {
  const [query] = useSearchParams();
  const navigate = useNavigate();
  const link = { uid: query.get('uid') ?? '', token: query.get('token') ?? '' };
  // Asked once, with or without a session: when the password is set, the link is used up before this page is left.
  const validated = useQuery({
    queryKey: ['reset-link', link],
    queryFn: () => dure.auth.validatePasswordReset(link),
    staleTime: Infinity,
    retry: false,
  });

  async function setPassword(entered: { new_password: string }) {
    await change(dure.auth.confirmPasswordReset, { ...link, ...entered });
    await leave();
    navigate('/login', { replace: true });
  }

  const { error } = validated;
  if (isApiError(error) && error.code === 'reset_link_invalid') {
    return <Navigate replace to="/reset-password-request" state={error.detail} />;
  }
  return (
    <Page title={m.set_a_new_password()} width="form-page">
      <Loaded query={validated}>
        {() => (
          <Form values={{ new_password: '' }} submitLabel={m.change_password_2()} onSubmit={setPassword}>
            <NewPasswordField name="new_password" label={m.new_password()} />
          </Form>
        )}
      </Loaded>
    </Page>
  );
}

/** The service has ended all sessions, also one of this browser, so that an error here changes nothing. */
async function leave(): Promise<void> {
  if (dure.isSignedIn()) await dure.auth.logOut().catch(() => undefined);
}

export function ConfirmEmail() {
  const { status, user } = useSession();
  const token = useSearchParams()[0].get('token') ?? '';
  const content = user ? <ConfirmForAccount token={token} user={user} /> : <Skeleton />;
  return (
    <Page title={m.verify_your_email_2()} width="form-page">
      {status === 'signed_out' ? <ConfirmForNewAccount token={token} /> : content}
    </Page>
  );
}

function ConfirmForNewAccount({ token }: { token: string }) {
  const { pathname, search } = useLocation();
  const navigate = useNavigate();
  const logIn = `/login?next=${encodeURIComponent(pathname + search)}`;

  async function confirm() {
    const proved = await dure.auth.confirmEmail({ token });
    // The tab with the form goes on by itself.
    proofs.postMessage(proved);
    navigate('/signup', { replace: true, state: { proved } satisfies SignUpState });
  }

  return (
    <>
      <p>{m.if_you_have_an_account()}</p>
      <ButtonLink look="primary" to={logIn} label={m.log_in_and_verify()} />
      <Form submitLabel={m.sign_up_with_this_address()} onSubmit={confirm} />
    </>
  );
}

/** Verifies the account that is signed in: its user must see which one that is. */
function ConfirmForAccount({ token, user }: { token: string; user: User }) {
  const { mutateAsync } = useMutation(dure.auth.confirmEmail);
  const [wasVerified] = useState(user.is_verified);

  async function confirm() {
    const { email } = await mutateAsync({ token });
    return email === user.email ? m.your_email_is_verified() : m.we_have_checked_but_it({ email });
  }

  if (wasVerified) return m.the_email_of_your_account();
  return (
    <OneStep
      text={m.this_verifies_the_email_of({ username: user.username })}
      label={m.verify_your_email_3()}
      run={confirm}
    />
  );
}

export function UndoEmailChange() {
  const token = useSearchParams()[0].get('token') ?? '';

  async function undo() {
    const { message } = await dure.request('undoEmailChange', { token });
    await leave();
    return message;
  }

  return (
    <Page title={m.undo_the_change_of_your()} lead={m.if_you_did_not_change()} width="form-page">
      <OneStep label={m.restore_my_old_address()} run={undo} />
    </Page>
  );
}

/** A button, because programs that check emails open links, too; in its place, what it has done. */
function OneStep({ text, label, run }: { text?: string; label: string; run: () => Promise<string> }) {
  const [result, setResult] = useState('');
  return (
    <>
      {!result && text && <p>{text}</p>}
      {!result && <Form submitLabel={label} onSubmit={() => run().then(setResult)} />}
      <div role="status">{result && <p className="note">{result}</p>}</div>
    </>
  );
}
