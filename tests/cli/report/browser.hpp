// SPDX-License-Identifier: Apache-2.0
// Chromium without a window, spoken to through two pipes in its DevTools protocol: JSON texts with a zero behind each.
// One page. Ends with the object.
#pragma once

#include <csignal>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

namespace tutti::cli::test {

class Browser {
 public:
  // Null where there is no chromium.
  static std::unique_ptr<Browser> start(const std::string& profile) {
    if (std::system("command -v chromium >/dev/null 2>&1") != 0) return nullptr;
    return std::unique_ptr<Browser>(new Browser(profile));
  }
  ~Browser() {
    ::close(to_);
    ::close(from_);
    ::kill(-process_, SIGKILL);
    ::waitpid(process_, nullptr, 0);
  }
  Browser(const Browser&) = delete;
  Browser& operator=(const Browser&) = delete;

  void attach() {
    const nlohmann::json target = call("Target.createTarget", {{"url", "about:blank"}});
    session_ = call("Target.attachToTarget", {{"targetId", target.value("targetId", "")}, {"flatten", true}})
                   .value("sessionId", "");
    for (const char* domain : {"Page.enable", "Runtime.enable", "Log.enable", "Network.enable"}) call(domain);
  }

  nlohmann::json call(const std::string& method, nlohmann::json parameters = nlohmann::json::object()) {
    nlohmann::json message = {{"id", ++number_}, {"method", method}, {"params", std::move(parameters)}};
    if (!session_.empty()) message["sessionId"] = session_;
    const std::string text = message.dump() + '\0';
    if (::write(to_, text.data(), text.size()) != static_cast<ssize_t>(text.size())) ADD_FAILURE() << "pipe closed";
    while (true) {
      const nlohmann::json answer = receive();
      if (answer.is_null()) return nlohmann::json::object();
      if (answer.value("id", 0) != number_) continue;
      if (answer.contains("error")) ADD_FAILURE() << method << ": " << answer["error"].dump();
      return answer.value("result", nlohmann::json::object());
    }
  }

  void open(const std::string& address) {
    is_loaded_ = false;
    call("Page.navigate", {{"url", address}});
    while (!is_loaded_ && !receive().is_null()) {
    }
  }

  // The value of an expression of the page's language, which may be a promise.
  nlohmann::json value(const std::string& expression) {
    const nlohmann::json result =
        call("Runtime.evaluate", {{"expression", expression}, {"returnByValue", true}, {"awaitPromise", true}});
    if (result.contains("exceptionDetails")) ADD_FAILURE() << expression << ": " << result.dump();
    return result.value("result", nlohmann::json::object()).value("value", nlohmann::json());
  }

  void mouse(const char* type, double x, double y, int pressed = 0) {
    call("Input.dispatchMouseEvent",
         {{"type", type},
          {"x", x},
          {"y", y},
          {"button", pressed != 0 || type == std::string("mouseReleased") ? "left" : "none"},
          {"buttons", pressed},
          {"clickCount", 1}});
  }
  void key(const std::string& name) {
    const bool is_letter = name.size() == 1;
    nlohmann::json down = {{"type", is_letter ? "keyDown" : "rawKeyDown"}, {"key", name}};
    if (is_letter) down["text"] = name;
    if (name == "Enter")
      down = {{"type", "keyDown"}, {"key", name}, {"code", name}, {"text", "\r"}, {"windowsVirtualKeyCode", 13}};
    call("Input.dispatchKeyEvent", down);
    call("Input.dispatchKeyEvent", {{"type", "keyUp"}, {"key", name}});
  }
  void type(const std::string& text) { call("Input.insertText", {{"text", text}}); }

  void resize(int width, const std::string& scheme) {
    call("Emulation.setDeviceMetricsOverride",
         {{"width", width}, {"height", 900}, {"deviceScaleFactor", 1}, {"mobile", width < 500}});
    const nlohmann::json feature = {{"name", "prefers-color-scheme"}, {"value", scheme}};
    call("Emulation.setEmulatedMedia", {{"features", {feature}}});
  }

  // Controls that nothing names.
  int num_nameless_controls() {
    return value(
        "[...document.querySelectorAll('button, input, canvas, a')].filter((e) => !(e.textContent.trim() || "
        "e.ariaLabel || e.closest('label')?.textContent.trim())).length");
  }
  // Of what is written with what is behind it: text can be read from 4.5 on.
  double least_contrast() {
    return value(R"js((() => {
      const light = (rgb) => rgb.map((v) => v / 255).map((v) => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
        .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
      const numbers = (color) => color.match(/[\d.]+/g).map(Number);
      const behind = (e) => {
        for (; e; e = e.parentElement) {
          const color = numbers(getComputedStyle(e).backgroundColor);
          if (color[3] !== 0) return color.slice(0, 3);
        }
      };
      let least = 21;
      const all = 'p, li, td, th, dt, dd, h1, h2, h3, h4, button, label, span, summary, a';
      for (const e of document.querySelectorAll(all)) {
        if (!e.textContent.trim() || e.disabled) continue;
        const [a, b] = [numbers(getComputedStyle(e).color).slice(0, 3), behind(e)].map(light);
        least = Math.min(least, (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05));
      }
      return least;
    })())js");
  }

  // Requests to this address are no complaints.
  void allow(const std::string& address) { allowed_ = address; }
  // From now on the console may say that a request failed.
  void forget_failed_requests() { may_fail_ = true; }
  // What the console said, and what the page asked for besides itself.
  [[nodiscard]] const std::vector<std::string>& complaints() const { return complaints_; }

 private:
  explicit Browser(const std::string& profile) {
    int to[2];
    int from[2];
    if (::pipe(to) != 0 || ::pipe(from) != 0) std::abort();
    process_ = ::fork();
    if (process_ == 0) {
      ::setpgid(0, 0);
      // Its ends are 3 and 4, whatever numbers they have.
      constexpr int kFree = 100;
      ::dup2(to[0], kFree);
      ::dup2(from[1], kFree + 1);
      ::dup2(kFree, 3);
      ::dup2(kFree + 1, 4);
      for (int other = 5; other < kFree + 2; ++other) ::close(other);
      if (std::freopen("/dev/null", "w", stderr) == nullptr) ::_exit(1);
      const std::string folder = "--user-data-dir=" + profile;
      ::execlp("chromium", "chromium", "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-extensions",
               "--disable-dev-shm-usage", "--no-first-run", "--remote-debugging-pipe", folder.c_str(), nullptr);
      ::_exit(1);
    }
    ::close(to[0]);
    ::close(from[1]);
    to_ = to[1];
    from_ = from[0];
  }

  // The next answer; notes events on its way. Null at the end, and after a long silence.
  nlohmann::json receive() {
    constexpr int kPatience = 30'000;
    while (buffer_.find('\0') == std::string::npos) {
      pollfd ready{.fd = from_, .events = POLLIN, .revents = 0};
      char bytes[65536];
      const ssize_t count = ::poll(&ready, 1, kPatience) == 1 ? ::read(from_, bytes, sizeof(bytes)) : 0;
      if (count <= 0) {
        ADD_FAILURE() << "chromium says nothing";
        return nullptr;
      }
      buffer_.append(bytes, static_cast<std::size_t>(count));
    }
    const std::size_t end = buffer_.find('\0');
    nlohmann::json message = nlohmann::json::parse(buffer_.substr(0, end));
    buffer_.erase(0, end + 1);
    note(message);
    return message;
  }
  void note(const nlohmann::json& message) {
    const std::string method = message.value("method", "");
    is_loaded_ = is_loaded_ || method == "Page.loadEventFired";
    if (may_fail_ && message.dump().find("net::ERR_") != std::string::npos) return;
    if (method == "Runtime.exceptionThrown" || method == "Runtime.consoleAPICalled" || method == "Log.entryAdded")
      complaints_.push_back(message.dump());
    if (method != "Network.requestWillBeSent") return;
    const std::string address = message["params"]["request"].value("url", "");
    if (!allowed_.empty() && address.starts_with(allowed_)) return;
    if (!address.starts_with("file:") && !address.starts_with("data:") && !address.starts_with("blob:"))
      complaints_.push_back("asks for " + address);
  }

  pid_t process_ = 0;
  int to_ = -1;
  int from_ = -1;
  int number_ = 0;
  bool is_loaded_ = false;
  std::string session_;
  std::string allowed_;
  bool may_fail_ = false;
  std::string buffer_;
  std::vector<std::string> complaints_;
};

}  // namespace tutti::cli::test
