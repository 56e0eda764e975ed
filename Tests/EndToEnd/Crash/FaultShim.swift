import Foundation
import TestSupport

/// The fault injection library that is preloaded into servers.
enum FaultShim {
    /// The shared library, compiled from `Tests/FaultShim/fault.c` once per test run, with the `clang` of the Swift toolchain.
    static let library = Result { try compile() }

    private struct CompilationFailure: Error {
        let status: ChildProcess.ExitStatus
    }

    private static func compile() throws -> URL {
        let tests = URL(filePath: #filePath).appending(path: "../../..").standardizedFileURL
        let library = HearthProcess.products.appending(path: "libFaultShim.so")
        // Renamed into place, since concurrent test runs share the build folder.
        let unfinished = library.appendingPathExtension(UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: unfinished) }
        let compiler = try ChildProcess(
            "/usr/bin/env",
            [
                "clang", "-shared", "-fPIC", "-O2", "-Wall", "-Wextra", "-Werror", "-o", unfinished.path,
                tests.appending(path: "FaultShim/fault.c").path,
            ],
            errors: .standardError
        )
        let status = compiler.wait()
        guard status == .code(0), rename(unfinished.path, library.path) == 0 else { throw CompilationFailure(status: status) }
        return library
    }
}
