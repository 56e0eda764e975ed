internal import Glibc

extension Duration {
    /// The processor time that the current thread has used.
    package static var threadProcessorTime: Duration {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }
}
