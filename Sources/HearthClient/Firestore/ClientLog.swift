internal import Foundation
internal import Synchronization

/// The log of the client: lines on standard error, about what nobody is called with.
enum ClientLog {
    /// True to log also what is in order.
    static let isVerbose = Atomic(false)

    static func write(_ message: String) {
        FileHandle.standardError.write(Data("HearthClient: \(message)\n".utf8))
    }

    /// Logs what is in order, if that is wanted.
    static func debug(_ message: @autoclosure () -> String) {
        if isVerbose.load(ordering: .relaxed) { write(message()) }
    }
}

extension Firestore {
    /// Sets whether all instances log to standard error also what is in order: connections of the local cache, and the answers to queued writes.
    ///
    /// Messages that need attention are always logged.
    public static func enableLogging(_ isEnabled: Bool) {
        ClientLog.isVerbose.store(isEnabled, ordering: .relaxed)
    }
}
