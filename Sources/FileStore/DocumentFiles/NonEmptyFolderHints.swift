internal import Synchronization
internal import UTF8Text

/// A cache of one file name per folder, as a hint that the folder is not empty.
///
/// Checking that the file still exists takes a hundredth of the time that listing a large folder takes.
final class NonEmptyFolderHints: Sendable {
    private let files = Mutex<[[UTF8Key]: String]>([:])

    /// The maximum number of folders.
    private static let limit = 1_000

    /// Returns the name of a file that was found in the folder of a path.
    func file(in segments: [UTF8Key]) -> String? {
        files.withLock { $0[segments] }
    }

    /// Records a file in the folder of a path, or `nil` if it has none.
    func record(_ file: String?, in segments: [UTF8Key]) {
        files.withLock { files in
            if file != nil, files[segments] == nil, files.count >= Self.limit, let other = files.keys.first {
                files[other] = nil
            }
            files[segments] = file
        }
    }
}
