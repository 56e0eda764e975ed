/// The registration of a listener, which can be removed.
public protocol ListenerRegistration: Sendable {
    /// Removes the listener. Subsequent calls have no effect.
    ///
    /// When called on the callback queue, the listener is not called again. When called from another thread, a call of the
    /// listener may be in progress.
    func remove()
}
