import { button, code, link, note, quote, timeInSeoul, type Wording, wholeUnits } from '../content.ts';

const months = 'January February March April May June July August September October November December'.split(
  ' ',
);

function duration(minutes: number): string {
  const { amount, unit } = wholeUnits(minutes);
  return amount === 1 ? `1 ${unit}` : `${amount} ${unit}s`;
}

/** As `4 March 2026 at 9:08 a.m. in Korea (00:08 UTC)`, with the date of UTC as well where it is another one. */
function date(moment: Date): string {
  const { year, month, day, isMorning, hour, minute } = timeInSeoul(moment);
  const time = `${hour}:${String(minute).padStart(2, '0')} ${isMorning ? 'a.m.' : 'p.m.'}`;
  const utcDay = moment.getUTCDate();
  const utcDate = utcDay === day ? '' : `${utcDay} ${months[moment.getUTCMonth()]}, `;
  const utc = `${utcDate}${moment.toISOString().slice(11, 16)} UTC`;
  return `${day} ${months[month - 1]} ${year} at ${time} in Korea (${utc})`;
}

const loginMethods = {
  identity: 'A connected login',
  passkey: 'A passkey',
  second_factor: 'Two-step verification',
} as const;

export const english: Wording = {
  language: 'en',
  brand: 'Dure',
  tagline: 'Dure · Partnerships between neighbourhood shops',
  unsubscribe: 'Stop emails of this kind',
  linkFallback: 'If the button does not work, paste this address into your browser.',
  accountReason: 'We send this email to keep your Dure account safe.',
  partnerReason: 'You are receiving this email because your shop is registered with Dure.',
  greeting: (name) => (name === undefined ? 'Hello,' : `Hello ${name},`),
  mails: {
    verification_code: (mail) => ({
      subject: 'Your Dure verification code',
      preheader: `Your code is ${mail.code}. It is valid for ${duration(mail.minutes)}.`,
      heading: 'Your verification code',
      blocks: [
        'Enter this code in Dure to verify your email address.',
        code(mail.code),
        'Or open this link instead.',
        button('Verify your email address', mail.url),
        `The code and the link are valid for ${duration(mail.minutes)}. You can use one of them, once.`,
        note(
          'Dure will never ask for this code by phone or message. Please do not share the code or the link with anyone.',
        ),
        note(
          'If you did not ask for this code, you can ignore this email. This address is only verified if the code or the link is used.',
        ),
      ],
      reason: 'You are receiving this email because Dure was asked to verify this address.',
    }),
    account_exists: (mail) => ({
      subject: 'You already have a Dure account',
      preheader: 'There is no need to sign up again: log in with your existing account.',
      heading: 'You already have an account',
      blocks: [
        'Someone asked to sign up with this email address or to verify it, but it already belongs to a Dure account. If that was you, log in with this user ID.',
        code(mail.username),
        button('Log in', mail.loginUrl),
        link('Forgot your password? Set a new one', mail.resetUrl),
        note('If it was not you, you can ignore this email. Nothing about your account has changed.'),
      ],
    }),
    reset_link: (mail) => ({
      subject: 'Reset your Dure password',
      preheader: `The link can be used once and is valid for ${duration(mail.minutes)}.`,
      heading: 'Reset your password',
      blocks: [
        'If you asked to reset your password, choose a new one here.',
        button('Choose a new password', mail.url),
        `The link can be used once and is valid for ${duration(mail.minutes)}. It stops working when you ask for a new one.`,
        note(
          'If you did not ask for this, you can ignore this email. Your password stays the same. Please do not forward the link to anyone.',
        ),
      ],
    }),
    password_changed: (mail) => ({
      subject: 'Your Dure password was changed',
      preheader: 'If it was not you, reset your password now.',
      heading: 'Your password was changed',
      blocks: [
        `The password of your Dure account was changed on ${date(mail.changedAt)}. To keep your account safe, ${mail.ended === 'all' ? 'every device was' : 'your other devices were'} logged out.`,
        'If it was you, there is nothing else to do.',
        'If it was not you, set a new password now. This logs out every device. We also recommend changing the password of this email account.',
        button('Set a new password', mail.url),
      ],
    }),
    login_method_changed: (mail) => {
      const changed = `${loginMethods[mail.method]} was ${mail.change}`;
      return {
        subject: `${changed} · Dure`,
        preheader: 'If it was not you, reset your password now.',
        heading: changed,
        blocks: [
          `A way to log in to your Dure account changed on ${date(mail.changedAt)}.`,
          ...(mail.label === '' ? [] : [quote(mail.label)]),
          'If it was you, there is nothing else to do.',
          'If it was not you, set a new password now. This logs out every device. Then remove what you do not know under “Ways to log in”.',
          button('Set a new password', mail.url),
        ],
      };
    },
    email_changed: (mail) => ({
      subject: 'Your Dure email address was changed',
      preheader: 'If it was not you, go back to this address now.',
      heading: 'Your email address was changed',
      blocks: [
        `The email address of your Dure account was changed from this address to another one on ${date(mail.changedAt)}. This is the new address, partly hidden.`,
        code(mail.newEmail),
        'If it was you, there is nothing to do. From now on, our emails go to the new address.',
        'If it was not you, go back to this address now. You will be logged out on all devices, and we will send a link to set a new password to this address.',
        button('Go back to this address', mail.url),
        note('The link can be used once and is valid for 7 days. Please do not forward it to anyone.'),
      ],
    }),
    marketing_consent: (mail) => ({
      subject: 'Your consent to marketing emails from Dure',
      preheader: 'When you agreed to them, and how to keep or withdraw your consent.',
      heading: 'Your consent to marketing emails',
      blocks: [
        `You agreed to marketing emails from Dure on ${date(mail.givenAt)}. Every two years, Korean law (Information and Communications Network Act, article 50 (8)) has us remind you and ask whether you still agree.`,
        'If you want to keep getting them, there is nothing to do.',
        'If you no longer want them, you can withdraw your consent at any time on your account page.',
        button('Review your consent', mail.url),
        note('Sender: Dure'),
      ],
      reason: 'We send this email every two years to people who agreed to marketing emails.',
    }),
    user_id: (mail) => ({
      subject: 'Your Dure user ID',
      preheader: 'Here is the user ID you asked for.',
      heading: 'Your user ID',
      blocks: [
        'This is the user ID of the Dure account with this email address.',
        code(mail.username),
        note(
          'If you did not ask for this, you can ignore this email. The user ID was sent to this email account only, and nothing about your Dure account has changed.',
        ),
      ],
    }),
    partner_request_received: (mail) => ({
      subject: `Dure: ${mail.storeName} sent you a partnership request`,
      preheader: `Post: ${mail.postTitle}`,
      heading: 'You have a new partnership request',
      blocks: [
        `${mail.storeName} would like to partner with you on your post “${mail.postTitle}”.`,
        quote(mail.message),
        button('View the request', mail.url),
        note('Once you have read it, you can accept or decline it.'),
      ],
    }),
    partner_request_accepted: (mail) => ({
      subject: `Dure: ${mail.storeName} accepted your partnership request`,
      preheader: `Post: ${mail.postTitle}`,
      heading: 'Your request was accepted',
      blocks: [
        `${mail.storeName} accepted your partnership request for “${mail.postTitle}”. We hope this is the start of a good partnership.`,
        'The page of the request now shows how to reach each other.',
        button('Show contact details', mail.url),
      ],
    }),
    partner_request_declined: (mail) => ({
      subject: `Dure: ${mail.storeName} declined your partnership request`,
      preheader: `Post: ${mail.postTitle}`,
      heading: 'Your request was declined',
      blocks: [
        `Unfortunately, ${mail.storeName} declined your partnership request for “${mail.postTitle}”. There are more posts by other shops on Dure.`,
        button('View the request', mail.url),
      ],
    }),
    partner_request_ended: (mail) => ({
      subject: `Dure: ${mail.storeName} ended your partnership`,
      preheader: `Post: ${mail.postTitle}`,
      heading: 'Your partnership has ended',
      blocks: [
        `${mail.storeName} ended your partnership from the post “${mail.postTitle}”. Dure no longer shows your contact details to each other.`,
        button('View the request', mail.url),
      ],
    }),
    saved_search_match: (mail) => ({
      subject: `Dure: “${mail.searchName}”: a new post matches your search`,
      preheader: `Post: ${mail.postTitle}`,
      heading: 'A new post matches your saved search',
      blocks: [
        `${mail.storeName} published a post that matches your saved search “${mail.searchName}”.`,
        quote(mail.postTitle),
        button('View the post', mail.url),
      ],
      reason: 'You get this email because you switched on emails about your saved searches.',
    }),
  },
};
