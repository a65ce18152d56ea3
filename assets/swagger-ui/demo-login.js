/** A button that signs up a shop and logs in as it. */
const demoLogin = ({ React: { createElement, useState }, getSystem }) => {
  const post = async (path, body, access) => {
    const headers = { 'content-type': 'application/json', 'accept-language': 'en' };
    if (access) headers.authorization = `Bearer ${access}`;
    const response = await fetch(path, { method: 'POST', headers, body: JSON.stringify(body) });
    const { success, message, data } = await response.json();
    if (!success) throw new Error(message);
    return data;
  };

  const logIn = async () => {
    const random = () => crypto.getRandomValues(new Uint32Array(2)).join('');
    const [username, password] = [`demo-${random()}`, random()];
    await post('/auth/signup/', { username, password, name: 'Demo', email: `${username}@example.com` });
    const { access } = await post('/auth/login/', { username, password });
    await post('/api/v1/stores/', { name: `Shop of ${username}`, category_ids: [1] }, access);
    getSystem().preauthorizeApiKey('bearer', access);
    getSystem().authActions.persistAuthorizationIfNeeded();
    return `Logged in as ${username} with the password ${password}`;
  };

  const addButton = (Authorize) => (props) => {
    const [text, setText] = useState('');
    const onClick = () => {
      setText('Logging in...');
      logIn().then(setText, ({ message }) => setText(message));
    };
    return createElement(
      'div',
      { className: 'demo-login' },
      createElement(Authorize, props),
      createElement('button', { className: 'btn', onClick }, 'Log in as a new demo shop'),
      createElement('output', null, text),
    );
  };
  return { wrapComponents: { AuthorizeBtnContainer: addButton } };
};

window.durePlugins.push(demoLogin);
