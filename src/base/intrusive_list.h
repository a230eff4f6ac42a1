// A doubly linked list through a node inside each element: no allocation, O(1) removal by the
// element itself. An element is in at most one list per node and leaves it before it dies.
#pragma once

#include "base/result.h"

namespace culvert {

struct ListNode {
  ListNode* prev = nullptr;
  ListNode* next = nullptr;

  ListNode() = default;
  ListNode(const ListNode&) = delete;
  ListNode& operator=(const ListNode&) = delete;
  ~ListNode() { unlink(); }

  [[nodiscard]] bool linked() const { return next != nullptr; }
  void unlink() {
    if (next == nullptr) return;
    prev->next = next;
    next->prev = prev;
    prev = next = nullptr;
  }
};

// T derives from ListNode (or from a Tag type that does, to be in several lists).
template <class T>
class IntrusiveList {
 public:
  IntrusiveList() { head_.prev = head_.next = &head_; }
  IntrusiveList(const IntrusiveList&) = delete;
  IntrusiveList& operator=(const IntrusiveList&) = delete;
  ~IntrusiveList() {
    while (!empty()) pop_front();
    head_.prev = head_.next = nullptr;
  }

  [[nodiscard]] bool empty() const { return head_.next == &head_; }
  T* front() { return empty() ? nullptr : static_cast<T*>(head_.next); }
  // The element after `item`, or nullptr at the end.
  T* after(T* item) {
    ListNode* n = static_cast<ListNode*>(item)->next;
    return n == &head_ ? nullptr : static_cast<T*>(n);
  }
  void push_back(T* item) { insert_before(&head_, item); }
  void push_front(T* item) { insert_before(head_.next, item); }
  T* pop_front() {
    T* item = front();
    if (item != nullptr) static_cast<ListNode*>(item)->unlink();
    return item;
  }
  // Takes over all of `other`'s elements, in order, at the back.
  void splice_back(IntrusiveList& other) {
    if (other.empty()) return;
    ListNode* first = other.head_.next;
    ListNode* last = other.head_.prev;
    other.head_.prev = other.head_.next = &other.head_;
    first->prev = head_.prev;
    head_.prev->next = first;
    last->next = &head_;
    head_.prev = last;
  }

 private:
  void insert_before(ListNode* at, ListNode* node) {
    CULVERT_CHECK(!node->linked());
    node->prev = at->prev;
    node->next = at;
    at->prev->next = node;
    at->prev = node;
  }
  ListNode head_;
};

}  // namespace culvert
