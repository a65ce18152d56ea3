import type { IncomingMessage } from 'node:http';
import { addFailedMail, createAdmin, sendReport } from '../../support/admin.ts';
import { createUser, type TestApp } from '../../support/app.ts';
import type { DocumentedOperation } from '../../support/contract.ts';
import { becomePartners, sendRequest } from '../../support/partner-requests.ts';
import { createPost, openShop } from '../../support/stores.ts';

/** Operations that Specmatic does not call, and why. */
export const omittedOperations: Record<string, string> = { streamNotifications: 'its response does not end' };

/** Parameters that Specmatic does not send, and why: it would send every combination of optional ones. */
export const omittedParameters: Record<string, string> = {
  'Accept-Language': 'every value is right',
  'Idempotency-Key': 'a second request with the same key is no new one',
  category_id: 'a number that is no category is an error',
  cursor: 'only the service makes one',
  near: 'goes together with radius_m',
  radius_m: 'goes together with near',
};

/** What stands in a path besides ids. */
export const pathValues: Record<string, string> = { provider: 'development' };

/** Operations whose positive scenarios fail, but for what chance makes right, and why. */
export const withoutSuccess: Record<string, string> = {
  addIdentity: 'needs a login at a provider',
  changeEmail: 'needs the code of an email',
  confirmEmail: 'needs the code of an email',
  confirmPasswordReset: 'needs the link of an email',
  confirmTotp: 'needs a code of an authenticator app',
  createStore: 'Specmatic sends numbers that are no categories',
  deleteImage: 'needs an image',
  deletePasskey: 'needs an authenticator',
  downloadOwnData: 'Specmatic rejects properties that a form in `anyOf` does not name',
  endSession: 'needs the id of a session',
  finishLogin: 'needs a code of an authenticator app',
  finishPasskeyLogin: 'needs an authenticator',
  finishPasskeyRegistration: 'needs an authenticator',
  finishProviderLogin: 'needs a login at a provider',
  refreshToken: 'needs the refresh token of a login',
  removeIdentity: 'needs a login at a provider',
  replaceRecoveryCodes: 'needs an account with a second factor',
  showUnsubscribePage: 'needs the link of an email',
  signUpWithProvider: 'needs a login at a provider',
  undoEmailChange: 'needs the link of an email',
  unsubscribe: 'needs the link of an email',
  updatePasskey: 'needs an authenticator',
  uploadImage: 'needs an image',
  validatePasswordReset: 'needs the link of an email',
};

/**
 * Users, stores and posts on which the operations of Specmatic can succeed.
 *
 * @returns what gives a request the token of a user who may send it, and the id of an object of its own in place of a valid one
 */
export async function createWorld(app: TestApp) {
  const { call } = app;
  const admin = await createAdmin(app);
  const owner = await openShop(app);
  const neighbour = await openShop(app);
  const newPost = async () => (await createPost(app, owner.token)).id;

  const newRequest = async () => sendRequest(app, neighbour, { id: await newPost() });
  const newUser = async () => (await createUser(app)).id;
  /** Makes the object that an operation is about. @returns its id */
  const objects: Record<string, () => Promise<number>> = {
    getStore: async () => owner.store.id,
    reportStore: async () => owner.store.id,
    getPost: newPost,
    updatePost: newPost,
    deletePost: newPost,
    reportPost: newPost,
    getPartnerRequest: newRequest,
    acceptPartnerRequest: newRequest,
    declinePartnerRequest: newRequest,
    withdrawPartnerRequest: newRequest,
    endPartnerRequest: async () =>
      becomePartners(app, { sender: neighbour, receiver: owner, post: { id: await newPost() } }),
    async deleteSavedSearch() {
      const body = { name: '동네', region: '망원동' };
      return (await call('POST', '/api/v1/saved-searches/', { token: owner.token, body })).body.data.id;
    },
    // Of a store of its own, because the example hides it.
    closeReport: async () => sendReport(app, owner, 'stores', (await openShop(app)).store.id),
    getUser: newUser,
    suspendUser: newUser,
    reactivateUser: newUser,
    endUserSessions: newUser,
    removeUserSecondFactor: newUser,
    retryFailedMail: async () => addFailedMail(app, owner),
  };
  /**
   * Operations that change the user or the session, or that a user can do once. Of the values of a discriminator with one schema,
   * Specmatic knows the first, so that notifications of a user with others may fail.
   */
  const ownUser =
    /^(?:listNotifications|logOut|deleteCurrentUser|changePassword|changeEmail|end\w*Sessions?|createStore|createSavedSearch|report\w+|startTotp|downloadOwnData)$/;

  async function userFor({ operationId, path }: DocumentedOperation): Promise<{ token: string }> {
    if (path.startsWith('/api/v1/admin/')) return admin;
    if (ownUser.test(operationId)) return createUser(app);
    return /^(?:create|withdraw)PartnerRequest$/.test(operationId) ? neighbour : owner;
  }

  return async (operation: DocumentedOperation | undefined, request: IncomingMessage): Promise<void> => {
    if (operation === undefined) return;
    if (request.headers.authorization === 'Bearer token')
      request.headers.authorization = `Bearer ${(await userFor(operation)).token}`;
    const object = objects[operation.operationId];
    const maximum = operation.parameters?.find((one) => one.in === 'path')?.schema['maximum'];
    const [, id] = /\/([1-9]\d*)\//.exec(request.url ?? '') ?? [];
    if (object && Number(id) <= Number(maximum))
      request.url = request.url?.replace(`/${id}/`, `/${await object()}/`);
  };
}
