// Mailbox: how another thread hands work to a worker. Lock-free multi-producer list; the worker
// takes the whole list at once and runs it in order. The sender wakes the worker only when the box
// was empty, so a burst costs one wake-up.
#pragma once

#include <atomic>
#include <utility>

namespace culvert::rt {

// A message owns what it carries; run() is called once on the worker, then the message is deleted.
// A message that is never run (the worker stopped) is only deleted.
class Message {
 public:
  virtual ~Message() = default;
  virtual void run() = 0;

 private:
  friend class Mailbox;
  Message* next_ = nullptr;
};

template <class F>
class FunctionMessage final : public Message {
 public:
  explicit FunctionMessage(F f) : f_(std::move(f)) {}
  void run() override { f_(); }

 private:
  F f_;
};

class Mailbox {
 public:
  Mailbox() = default;
  Mailbox(const Mailbox&) = delete;
  Mailbox& operator=(const Mailbox&) = delete;
  ~Mailbox() { drop_all(); }

  // Any thread. Takes ownership; true when the box was empty: the caller then wakes the worker.
  bool push(Message* message) {
    Message* head = head_.load(std::memory_order_relaxed);
    do {
      message->next_ = head;
    } while (!head_.compare_exchange_weak(head, message, std::memory_order_acq_rel,
                                          std::memory_order_relaxed));
    return head == nullptr;
  }
  // The worker only: runs what is there, in the order it was pushed; returns how many.
  size_t drain() {
    size_t n = 0;
    for (Message* m = take_in_order(); m != nullptr; ++n) {
      Message* next = m->next_;
      m->run();
      delete m;
      m = next;
    }
    return n;
  }
  [[nodiscard]] bool empty() const { return head_.load(std::memory_order_acquire) == nullptr; }

 private:
  void drop_all() {
    for (Message* m = take_in_order(); m != nullptr;) {
      Message* next = m->next_;
      delete m;
      m = next;
    }
  }
  Message* take_in_order() {
    Message* m = head_.exchange(nullptr, std::memory_order_acq_rel);
    Message* ordered = nullptr;
    while (m != nullptr) {
      Message* next = m->next_;
      m->next_ = ordered;
      ordered = m;
      m = next;
    }
    return ordered;
  }
  std::atomic<Message*> head_{nullptr};
};

}  // namespace culvert::rt
