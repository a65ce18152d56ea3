// First, so that the parts can override it.
import './styles/index.css';
import { DureProvider } from '@dure/react';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { createBrowserRouter, RouterProvider } from 'react-router';
import { dure, queryClient } from './api.ts';
import { Confirmation } from './app/change.ts';
import { CrashPage, NotFound, page } from './app/page-route.tsx';
import { followPush } from './app/push.ts';
import { SignedIn } from './app/session.tsx';
import { Shell } from './app/shell.tsx';
import { Home } from './posts/home.tsx';
import { forgetDrafts } from './ui/draft.ts';

dure.onAuthChange(forgetDrafts);
dure.onAuthChange(followPush);

/** Emails of the service link to some of these paths, and login providers to /login/callback. */
const router = createBrowserRouter([
  {
    Component: Shell,
    children: [
      {
        ErrorBoundary: CrashPage,
        children: [
          { path: '/', Component: Home },
          page('/signup', () => import('./auth/sign-up.tsx'), 'SignUp'),
          page('/login', () => import('./auth/log-in.tsx'), 'LogIn'),
          page('/login/callback', () => import('./auth/log-in.tsx'), 'LoginCallback'),
          page('/find-id', () => import('./auth/by-email.tsx'), 'RequestEmail'),
          page('/reset-password-request', () => import('./auth/by-email.tsx'), 'RequestEmail'),
          page('/reset-password', () => import('./auth/by-email.tsx'), 'ResetPassword'),
          page('/verify-email', () => import('./auth/by-email.tsx'), 'ConfirmEmail'),
          page('/undo-email-change', () => import('./auth/by-email.tsx'), 'UndoEmailChange'),
          {
            Component: SignedIn,
            children: [
              page('/posts/new', () => import('./posts/post-form.tsx'), 'NewPost'),
              page('/posts/:id', () => import('./posts/post.tsx'), 'PostPage'),
              page('/posts/:id/edit', () => import('./posts/post-form.tsx'), 'EditPost'),
              page('/stores', () => import('./stores/stores.tsx'), 'Stores'),
              page('/stores/:id', () => import('./stores/stores.tsx'), 'StorePage'),
              page('/store', () => import('./stores/stores.tsx'), 'OwnStore'),
              page('/store/edit', () => import('./stores/store-form.tsx'), 'StoreForm'),
              page('/requests', () => import('./requests/requests.tsx'), 'Requests'),
              page('/requests/:id', () => import('./requests/requests.tsx'), 'RequestPage'),
              page('/partners', () => import('./requests/requests.tsx'), 'Partners'),
              page('/notifications', () => import('./requests/notifications.tsx'), 'Notifications'),
              page('/account', () => import('./account/account.tsx'), 'Account'),
              page('/account/alerts', () => import('./account/alerts.tsx'), 'Alerts'),
              page('/account/login-methods', () => import('./account/login-methods.tsx'), 'LoginMethods'),
              page('/sessions', () => import('./account/sessions.tsx'), 'Sessions'),
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
