// A browser starts no worker from a file. There the search runs in a hidden frame, so that the site needs no server.
if (location.protocol === "file:") {
  window.Worker = class {
    constructor(address) {
      this.frame = document.createElement("iframe")
      this.frame.hidden = true
      document.body.append(this.frame)
      const inside = this.inside = this.frame.contentWindow
      inside.document.open()
      // What is passed is copied, as between a page and a worker: the search changes it.
      inside.postMessage = data => later({ data: structuredClone(data) }, message => this.onmessage?.(message))
      this.ready = new Promise(resolve => { this.frame.onload = resolve })
      inside.document.write(`<body><script src="${address}"></script>`)
      inside.document.close()
    }
    postMessage(data) {
      const inside = this.inside
      const message = new inside.MessageEvent("message", { data: inside.structuredClone(data) })
      this.ready.then(() => later(message, () => inside.dispatchEvent(message)))
    }
    terminate() {
      this.frame.remove()
    }
  }
  const later = (message, told) => setTimeout(told, 0, message)
}
