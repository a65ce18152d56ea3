/** The SDK, in a file of its own, so that it can be loaded with the first mail. */
export { Resend } from 'resend';
