// roundoffKernel(id) connects with the Jupyter kernel of that id through the server of this page, under any base URL
// and over https. It returns a promise of {run, closed}: run(code, done) has the kernel execute code as soon as it is
// free, without a trace in the notebook, and calls done with what the code printed, or with null if that is lost;
// closed is a promise that is kept when the connection ends. A rejection has the reason "no server" where the page is
// not one of Jupyter's, "no kernel" where its server has no such kernel, and "no connection" where the server has it and
// does not connect the page with it.
window.roundoffKernel = (function () {
  var connections = {};
  var word = function () { return Math.random().toString(16).slice(2); };

  var failure = function (reason) { return Object.assign(new Error(reason), { reason: reason }); };

  var connect = function (id) {
    var config = document.getElementById("jupyter-config-data"), session = word();
    if (!config) return Promise.reject(failure("no server"));
    config = JSON.parse(config.textContent);
    var root = new URL(config.baseUrl || "/", location.href);
    var list = function () {
      var cookie = /(?:^|; )_xsrf=([^;]*)/.exec(document.cookie);
      return fetch(new URL("api/kernels", root), { headers: cookie ? { "X-XSRFToken": cookie[1] } : {} })
        .then(function (answer) { return answer.json(); });
    };
    return list().then(function (kernels) {
      if (!kernels.some(function (k) { return k.id === id; })) throw failure("no kernel");
      var url = new URL("api/kernels/" + id + "/channels?session_id=" + session, config.wsUrl || root);
      url.protocol = url.protocol.replace("http", "ws");
      return new Promise(function (open, fail) {
        var socket = new WebSocket(url), c = connection(socket, session, function () {
          return list().then(function (kernels) { return kernels.find(function (k) { return k.id === id; }); });
        });
        socket.onopen = function () { open(c); };
        socket.onerror = function () { fail(failure("no connection")); };
      });
    });
  };

  // What the server sends and takes is described in Jupyter's "Messaging in Jupyter".
  // look returns a promise of what the server knows of the kernel.
  var connection = function (socket, session, look) {
    var pending = {}, close;
    // A kernel that ends or restarts answers nothing and says nothing: where an answer takes long, the server is asked.
    var watch = function (request, idle) {
      setTimeout(function () {
        if (!pending[request]) return;
        look().then(function (k) {
          if (!k) return socket.close();
          var still = k.execution_state !== "busy";
          if (idle && still) finish(request, null);
          else watch(request, still);
        }, function () { watch(request, false); });
      }, 3000);
    };
    var finish = function (request, printed) {
      var p = pending[request];
      delete pending[request];
      if (p) p.done(printed);
    };
    var abandon = function () { Object.keys(pending).forEach(function (request) { finish(request, null); }); };
    socket.onmessage = function (event) {
      if (typeof event.data !== "string") return;
      var m = JSON.parse(event.data), request = (m.parent_header || {}).msg_id, p = pending[request];
      var state = m.msg_type === "status" ? m.content.execution_state : "";
      if (state === "restarting" || state === "dead") abandon();
      else if (p && m.msg_type === "stream" && m.content.name === "stdout") p.printed += m.content.text;
      else if (p && state === "idle") finish(request, p.printed);
    };
    var closed = new Promise(function (resolve) { close = resolve; });
    socket.onclose = function () { abandon(); close(); };
    var run = function (code, done) {
      var request = word();
      pending[request] = { printed: "", done: done };
      watch(request, false);
      socket.send(JSON.stringify({
        header: { msg_id: request, msg_type: "execute_request", session: session, username: "", date: new Date().toISOString(), version: "5.3" },
        parent_header: {}, metadata: {}, channel: "shell", buffers: [],
        content: { code: code, silent: true, store_history: false, user_expressions: {}, allow_stdin: false, stop_on_error: false },
      }));
    };
    return { run: run, closed: closed };
  };

  return function (id) {
    if (!connections[id]) {
      connections[id] = connect(id);
      var forget = function () { delete connections[id]; };
      connections[id].then(function (c) { c.closed.then(forget); }, forget);
    }
    return connections[id];
  };
})();
