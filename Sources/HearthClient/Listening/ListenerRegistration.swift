/// The registration of a listener, which can be removed.
public protocol ListenerRegistration: AnyObject, Sendable {
    /// Removes the listener. Subsequent calls have no effect.
    ///
    /// If you call this method on the callback queue, the listener is not called again. If you call it from another thread, a
    /// call to the listener may be in progress.
    func remove()
}
