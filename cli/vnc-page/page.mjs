/* global document, location */
/** What the browser runs: noVNC on the websocket beside this page. */
import RFB from '@novnc/novnc';

const state = document.getElementById('state');
const url = new URL('vnc', location.href);
url.protocol = 'ws:';
const display = new RFB(document.getElementById('screen'), url.href, { wsProtocols: [] });
display.scaleViewport = true;
display.addEventListener('connect', () => {
  state.textContent = 'connected';
  display.focus();
});
display.addEventListener('disconnect', ({ detail }) => {
  state.textContent = detail.clean
    ? 'the session has ended; reload to connect again'
    : 'the connection was lost; reload to connect again';
});
document.getElementById('keys').addEventListener('click', () => {
  display.sendCtrlAltDel();
  display.focus();
});
