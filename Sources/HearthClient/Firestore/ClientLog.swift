internal import Foundation

/// The log of the client: lines on standard error, about what nobody is called with.
enum ClientLog {
    static func write(_ message: String) {
        FileHandle.standardError.write(Data("HearthClient: \(message)\n".utf8))
    }
}
