/* Shows push messages of the service, and opens what they are about. It keeps nothing. */
self.addEventListener('push', (event) => {
  const { id, title, body, url } = event.data.json();
  // A message that comes twice replaces itself.
  event.waitUntil(self.registration.showNotification(title, { body, tag: String(id), data: { url } }));
});

self.addEventListener('notificationclick', (event) => {
  event.notification.close();
  event.waitUntil(open(event.notification.data.url));
});

/** In a window of its own, because another page may have a form that is half filled in. */
async function open(url) {
  const pages = await self.clients.matchAll({ type: 'window', includeUncontrolled: true });
  const page = pages.find((one) => one.url === url);
  await (page ? page.focus() : self.clients.openWindow(url));
}
