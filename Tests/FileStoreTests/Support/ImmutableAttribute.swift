import TestSupport
import Testing

/// The immutable attribute of files (`chattr +i`). It requires root and a file system that supports it.
enum ImmutableAttribute {
    static let isSupported = (try? probe()) != nil

    static func set(_ isSet: Bool, _ path: String) throws {
        try #require(try ChildProcess.run("/usr/bin/chattr", [isSet ? "+i" : "-i", path]) == .code(0))
    }

    private static func probe() throws {
        let folder = try TemporaryFolder()
        try folder.write("", to: "file")
        for isSet in [true, false] {
            guard try ChildProcess.run("/usr/bin/chattr", [isSet ? "+i" : "-i", folder["file"]]) == .code(0) else {
                throw CancellationError()
            }
        }
    }
}
