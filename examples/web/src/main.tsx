// First, so that the parts can override it.
import './styles/index.css';
import { DureProvider } from '@dure/react';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { createBrowserRouter, RouterProvider } from 'react-router';
import { dure, queryClient } from './api.ts';
import { Confirmation } from './app/change.ts';
import { CrashPage, NotFound, page } from './app/page-route.tsx';
import { SignedIn } from './app/session.tsx';
import { Shell } from './app/shell.tsx';
import { Home } from './posts/home.tsx';

/** Emails of the service link to some of these paths, and login providers to /login/callback. */
const router = createBrowserRouter([
  {
    Component: Shell,
    children: [
      {
        ErrorBoundary: CrashPage,
        children: [
          { path: '/', Component: Home },
          page('/signup', async () => (await import('./auth/sign-up.tsx')).SignUp),
          page('/login', async () => (await import('./auth/log-in.tsx')).LogIn),
          page('/login/callback', async () => (await import('./auth/log-in.tsx')).LoginCallback),
          page('/find-id', async () => (await import('./auth/by-email.tsx')).FindId),
          page('/reset-password-request', async () => (await import('./auth/by-email.tsx')).RequestReset),
          page('/reset-password', async () => (await import('./auth/by-email.tsx')).ResetPassword),
          page('/verify-email', async () => (await import('./auth/by-email.tsx')).ConfirmEmail),
          page('/undo-email-change', async () => (await import('./auth/by-email.tsx')).UndoEmailChange),
          {
            Component: SignedIn,
            children: [
              page('/posts/new', async () => (await import('./posts/post-form.tsx')).NewPost),
              page('/posts/:id', async () => (await import('./posts/post.tsx')).PostPage),
              page('/posts/:id/edit', async () => (await import('./posts/post-form.tsx')).EditPost),
              page('/stores', async () => (await import('./stores/stores.tsx')).Stores),
              page('/stores/:id', async () => (await import('./stores/stores.tsx')).StorePage),
              page('/store', async () => (await import('./stores/stores.tsx')).OwnStore),
              page('/store/edit', async () => (await import('./stores/store-form.tsx')).StoreForm),
              page('/requests', async () => (await import('./requests/requests.tsx')).Requests),
              page('/requests/:id', async () => (await import('./requests/requests.tsx')).RequestPage),
              page('/partners', async () => (await import('./requests/requests.tsx')).Partners),
              page(
                '/notifications',
                async () => (await import('./requests/notifications.tsx')).Notifications,
              ),
              page('/account', async () => (await import('./account/account.tsx')).Account),
              page('/account/alerts', async () => (await import('./account/alerts.tsx')).Alerts),
              page(
                '/account/login-methods',
                async () => (await import('./account/login-methods.tsx')).LoginMethods,
              ),
              page('/sessions', async () => (await import('./account/sessions.tsx')).Sessions),
            ],
          },
          { path: '*', Component: NotFound },
        ],
      },
    ],
  },
]);

const root = document.getElementById('app');
if (root === null) throw new Error('index.html has no #app');
// What index.html shows until here.
root.replaceChildren();
createRoot(root).render(
  <StrictMode>
    <DureProvider client={dure} queryClient={queryClient}>
      <RouterProvider router={router} />
      <Confirmation />
    </DureProvider>
  </StrictMode>,
);
