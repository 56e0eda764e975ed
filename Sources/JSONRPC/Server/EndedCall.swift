package import Concurrency

/// A call that has ended, for statistics.
package struct EndedCall: Sendable {
    /// The index of the method in ``MethodTable/methods``; `nil` for a method that does not exist.
    package let method: Int?
    /// The code of the error; `nil` for a call that succeeded.
    package let error: RPCErrorCode?
    /// The time since the call was started; `nil` if it wasn't.
    package let time: Stopwatch?
}
