/// A listener that was added, for removing it.
public protocol ListenerRegistration: Sendable {
    /// Removes the listener: it is not called any more. Doing so again has no effect.
    ///
    /// Where listeners are called on a queue and this is called on the same one, that holds from here on; from elsewhere the
    /// listener may be at work at this moment.
    func remove()
}
