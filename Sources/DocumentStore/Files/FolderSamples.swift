internal import StrictJSON
internal import Synchronization

/// For each of some folders one file that was there when it was last listed: a look whether it still is takes a hundredth of
/// the time that a listing of a large folder takes.
final class FolderSamples: Sendable {
    private let files = Mutex<[[UTF8Key]: String]>([:])

    /// How many folders are remembered.
    private static let limit = 1_000

    /// The name of a file that was in the folder that the segments lead to.
    func file(in segments: [UTF8Key]) -> String? {
        files.withLock { $0[segments] }
    }

    /// Notes what was found in the folder that the segments lead to; nil when no file is directly in it.
    func note(_ file: String?, in segments: [UTF8Key]) {
        files.withLock { files in
            if file != nil, files[segments] == nil, files.count >= Self.limit, let other = files.keys.first {
                files[other] = nil
            }
            files[segments] = file
        }
    }
}
