import { LocationProvider, Route, Router } from 'preact-iso';
import { Shell } from './components/shell.tsx';
import { ToastProvider } from './components/toasts.tsx';
import { ConfirmationProvider } from './confirmation.tsx';
import { LiveProvider } from './live.tsx';
import { SessionProvider } from './session.tsx';
import { signedIn } from './signed-in.tsx';
import { LanguageProvider } from './texts/language.tsx';
import { AccountView } from './views/account.tsx';
import { AlertsView } from './views/alerts.tsx';
import { ConfirmEmailView } from './views/confirm-email.tsx';
import { FindIdView } from './views/find-id.tsx';
import { HomeView } from './views/home.tsx';
import { LogInView } from './views/log-in.tsx';
import { LoginCallbackView } from './views/login-callback.tsx';
import { LoginMethodsView } from './views/login-methods.tsx';
import { NotFoundView } from './views/not-found.tsx';
import { NotificationsView } from './views/notifications.tsx';
import { OwnStoreView } from './views/own-store.tsx';
import { PartnersView } from './views/partners.tsx';
import { PostView } from './views/post.tsx';
import { EditPostView, NewPostView } from './views/post-form.tsx';
import { RequestView } from './views/request.tsx';
import { RequestResetView } from './views/request-reset.tsx';
import { RequestsView } from './views/requests.tsx';
import { ResetPasswordView } from './views/reset-password.tsx';
import { SessionsView } from './views/sessions.tsx';
import { SignUpView } from './views/sign-up.tsx';
import { StoreView } from './views/store.tsx';
import { StoreFormView } from './views/store-form.tsx';
import { StoresView } from './views/stores.tsx';
import { UndoEmailChangeView } from './views/undo-email-change.tsx';

const NewPost = signedIn(NewPostView);
const Post = signedIn(PostView);
const EditPost = signedIn(EditPostView);
const Requests = signedIn(RequestsView);
const Request = signedIn(RequestView);
const Partners = signedIn(PartnersView);
const Notifications = signedIn(NotificationsView);
const OwnStore = signedIn(OwnStoreView);
const StoreForm = signedIn(StoreFormView);
const Store = signedIn(StoreView);
const Stores = signedIn(StoresView);
const Account = signedIn(AccountView);
const Alerts = signedIn(AlertsView);
const LoginMethods = signedIn(LoginMethodsView);
const Sessions = signedIn(SessionsView);

/**
 * The whole app. Emails of the service link to /login, /verify-email, /reset-password-request, /reset-password, /undo-email-change and
 * /requests/:id; login providers lead to /login/callback.
 */
export function App() {
  return (
    <LocationProvider>
      <LanguageProvider>
        <ToastProvider>
          <SessionProvider>
            <LiveProvider>
              <ConfirmationProvider>
                <Shell>
                  <Router>
                    <Route path="/" component={HomeView} />
                    <Route path="/signup" component={SignUpView} />
                    <Route path="/login" component={LogInView} />
                    <Route path="/login/callback" component={LoginCallbackView} />
                    <Route path="/find-id" component={FindIdView} />
                    <Route path="/reset-password-request" component={RequestResetView} />
                    <Route path="/reset-password" component={ResetPasswordView} />
                    <Route path="/verify-email" component={ConfirmEmailView} />
                    <Route path="/undo-email-change" component={UndoEmailChangeView} />
                    <Route path="/posts/new" component={NewPost} />
                    <Route path="/posts/:id" component={Post} />
                    <Route path="/posts/:id/edit" component={EditPost} />
                    <Route path="/requests" component={Requests} />
                    <Route path="/requests/:id" component={Request} />
                    <Route path="/partners" component={Partners} />
                    <Route path="/notifications" component={Notifications} />
                    <Route path="/store" component={OwnStore} />
                    <Route path="/store/edit" component={StoreForm} />
                    <Route path="/stores" component={Stores} />
                    <Route path="/stores/:id" component={Store} />
                    <Route path="/account" component={Account} />
                    <Route path="/account/alerts" component={Alerts} />
                    <Route path="/account/login-methods" component={LoginMethods} />
                    <Route path="/sessions" component={Sessions} />
                    <Route default component={NotFoundView} />
                  </Router>
                </Shell>
              </ConfirmationProvider>
            </LiveProvider>
          </SessionProvider>
        </ToastProvider>
      </LanguageProvider>
    </LocationProvider>
  );
}
