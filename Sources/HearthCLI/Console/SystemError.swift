import Foundation

/// What the system says of a failed call.
enum SystemError {
    /// The words for an `errno`.
    static func text(_ number: Int32) -> String {
        String(cString: strerror(number))
    }
}
