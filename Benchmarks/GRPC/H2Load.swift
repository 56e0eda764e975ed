import Foundation
import NIOCore

/// The load generator `h2load` of nghttp2: unary gRPC calls on one HTTP/2 connection.
struct H2Load {
    private let program: String
    private let folder: String

    /// The number of calls in progress at the same time.
    static let streams = 16

    /// Finds the program.
    ///
    /// - Parameter folder: The folder for its input and output.
    /// - Throws: ``NotInstalled``.
    init(in folder: String) throws {
        guard let program = PeerEnvironment.program("h2load") else { throw NotInstalled() }
        self.program = program
        self.folder = folder
    }

    /// A unary call, repeated with the same message.
    struct Call {
        /// The path, `/package.Service/Method`.
        var path: String
        /// The message with its prefix.
        var message: ByteBuffer
    }

    /// Makes calls.
    ///
    /// - Parameter responseBytes: The expected size of the body of every response, if it is known.
    /// - Returns: The size of the body of a response.
    /// - Throws: ``Failure`` if a call fails: a response with an error has no body.
    @discardableResult
    func send(_ call: Call, count: Int, port: Int, responseBytes: Int? = nil) throws -> Int {
        let input = folder + "/h2load-message"
        let output = folder + "/h2load-output"
        try RawFileIO.write(Array(call.message.readableBytesView), to: input)
        try RawFileIO.write([], to: output)
        let process = try SpawnedProcess(
            program,
            [
                "--requests=\(count)", "--clients=1", "--max-concurrent-streams=\(Self.streams)", "--data=" + input,
                "--header=content-type: application/grpc", "--header=te: trailers", "http://127.0.0.1:\(port)" + call.path,
            ],
            output: output
        )
        let isSuccess = process.wait()
        let text = try String(contentsOfFile: output, encoding: .utf8)
        guard isSuccess, let succeeded = text.firstMatch(of: /(\d+) succeeded/), Int(succeeded.1) == count,
            let match = text.firstMatch(of: /\((\d+)\) data/), let bytes = Int(match.1), bytes > 0, bytes.isMultiple(of: count),
            responseBytes == nil || bytes == responseBytes.map({ $0 * count })
        else { throw Failure(path: call.path, output: text) }
        return bytes / count
    }

    /// The program is not installed.
    struct NotInstalled: Error, CustomStringConvertible {
        var description: String {
            "The load generator h2load was not found in PATH. Install the Debian package nghttp2-client, or skip the calls with "
                + "--calls 0."
        }
    }

    /// Calls failed, which invalidates the measurement.
    struct Failure: Error, CustomStringConvertible {
        let path: String
        let output: String

        var description: String { "Not all calls of \(path) succeeded. h2load has printed:\n\(output)" }
    }
}
