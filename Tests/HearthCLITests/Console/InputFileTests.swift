import DocumentModel
import Foundation
import StorageIO
import TestSupport
import Testing

@testable import HearthCLI

@Suite("Input files")
struct InputFileTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        try folder.write("contents", to: "file")
        try folder.link("loop", to: folder["loop"])
        try FileManager.default.createDirectory(atPath: folder["folder"], withIntermediateDirectories: false)
    }

    @Test(arguments: [
        ("none", StatusCode.notFound, "No such file or directory"), ("file/below", .notFound, "Not a directory"),
        ("folder", .invalidArgument, "Is a directory"), ("loop", .invalidArgument, "Too many levels of symbolic links"),
        (String(repeating: "x", count: 300), .invalidArgument, "File name too long"),
    ])
    func `Errors contain the path and the system's description`(name: String, code: StatusCode, reason: String) {
        let error = #expect(throws: StatusError.self) {
            _ = try InputFile(folder[name]).readToEnd(maximumBytes: 100)
        }
        #expect(error?.code == code)
        #expect(error?.message.contains(folder[name]) == true)
        #expect(error?.message.contains(reason) == true)
    }

    @Test(arguments: [
        (EACCES, StatusCode.permissionDenied), (EROFS, .permissionDenied), (ENOENT, .notFound), (EISDIR, .invalidArgument),
        (EMFILE, .resourceExhausted), (ENOSPC, .resourceExhausted), (EIO, .unavailable),
    ])
    func `errno is mapped to a status code`(number: Int32, code: StatusCode) {
        let error = FileSystemError("open", code: number).status("Cannot open x")
        #expect(error.code == code)
        #expect(error.message == "Cannot open x: \(String(cString: strerror(number))).")
    }

    @Test func `Reads a whole file, or rejects it as too large`() throws {
        #expect(try InputFile(folder["file"]).readToEnd(maximumBytes: 8) == Array("contents".utf8))
        let error = #expect(throws: StatusError.self) { try InputFile(folder["file"]).readToEnd(maximumBytes: 7) }
        #expect(error?.code == .invalidArgument)
    }
}
