// Streams and events. A stream is a thread that does what it is given, in order, after the call
// that gave it has returned.
#pragma once

#include <array>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <c10/core/Stream.h>
#include <c10/util/Exception.h>

namespace standin {

constexpr int kDevices = 2;
constexpr int kStreams = 9;  // of each device: the default one and those of a pool

class Queue {
 public:
  Queue() {
    std::thread([this] { run(); }).detach();  // it lives as long as the process
  }

  void give(std::function<void()> work) {
    std::lock_guard<std::mutex> lock(mutex_);
    waiting_.push_back(std::move(work));
    given_++;
    changed_.notify_all();
  }

  bool is_idle() {
    std::lock_guard<std::mutex> lock(mutex_);
    return done_ == given_;
  }

  // Waits for what was given so far; raises the first error of it.
  void wait() {
    std::unique_lock<std::mutex> lock(mutex_);
    const auto target = given_;
    changed_.wait(lock, [&] { return done_ >= target; });
    const std::string error = std::exchange(error_, "");
    TORCH_CHECK(error.empty(), "standin: an operation failed before this wait: ", error);
  }

 private:
  void run() {
    while (true) {
      std::function<void()> work;
      {
        std::unique_lock<std::mutex> lock(mutex_);
        changed_.wait(lock, [&] { return !waiting_.empty(); });
        work = std::move(waiting_.front());
        waiting_.pop_front();
      }
      std::string error;
      try {
        work();
      } catch (const c10::Error& raised) {
        error = raised.what_without_backtrace();
      } catch (const std::exception& raised) {
        error = raised.what();
      }
      work = nullptr;  // lets go of memory before anyone learns that it is done
      std::lock_guard<std::mutex> lock(mutex_);
      done_++;
      if (error_.empty()) error_ = error;
      changed_.notify_all();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> waiting_;
  long given_ = 0, done_ = 0;
  std::string error_;
};

// A place in a stream's work that others can wait for.
class Mark {
 public:
  void reach() {
    std::lock_guard<std::mutex> lock(mutex_);
    moment_ = std::chrono::steady_clock::now();
    is_reached_ = true;
    reached_.notify_all();
  }

  void wait() {
    std::unique_lock<std::mutex> lock(mutex_);
    reached_.wait(lock, [&] { return is_reached_; });
  }

  bool is_reached() {
    std::lock_guard<std::mutex> lock(mutex_);
    return is_reached_;
  }

  std::chrono::steady_clock::time_point moment() const { return moment_; }

 private:
  std::mutex mutex_;
  std::condition_variable reached_;
  bool is_reached_ = false;
  std::chrono::steady_clock::time_point moment_;
};

using SharedMark = std::shared_ptr<Mark>;

// The queues of a device, each made when it is first asked for.
class Queues {
 public:
  Queue& at(c10::StreamId id) {
    std::lock_guard<std::mutex> lock(mutex_);
    auto& queue = queues_.at(id);
    if (!queue) queue = new Queue;
    return *queue;
  }

  c10::StreamId next() {
    std::lock_guard<std::mutex> lock(mutex_);
    last_ = last_ % (kStreams - 1) + 1;
    return last_;
  }

  void wait() {
    for (auto* queue : made()) queue->wait();
  }

  bool is_used() { return !made().empty(); }

 private:
  std::vector<Queue*> made() {
    std::lock_guard<std::mutex> lock(mutex_);
    std::vector<Queue*> found;
    for (auto* queue : queues_) {
      if (queue) found.push_back(queue);
    }
    return found;
  }

  std::mutex mutex_;
  std::array<Queue*, kStreams> queues_{};
  c10::StreamId last_ = 0;
};

// They are never taken down: their threads may be at work when the process ends.
inline Queues& queues_of(c10::DeviceIndex device) {
  static auto* all = new std::array<Queues, kDevices>;
  return all->at(device);
}

inline Queue& queue_of(const c10::Stream& stream) {
  return queues_of(stream.device_index()).at(stream.id());
}

inline SharedMark mark(const c10::Stream& stream) {
  auto made = std::make_shared<Mark>();
  queue_of(stream).give([made] { made->reach(); });
  return made;
}

inline void wait_in(const c10::Stream& stream, const SharedMark& mark) {
  queue_of(stream).give([mark] { mark->wait(); });
}

}  // namespace standin
