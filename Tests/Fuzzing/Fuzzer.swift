import Dispatch
import Foundation
import FuzzedInputs

/// Tries inputs with libFuzzer, which `Tests/Fuzzing/run` builds the program with: it changes those that have made the program do
/// something new.
///
/// The first byte of an input says of which kind the others are.
@main
enum Fuzzer {
    static func main() {
        if CommandLine.arguments.count == 3, CommandLine.arguments[1] == "--seeds" {
            return writeSeeds(to: CommandLine.arguments[2])
        }
        var count = CommandLine.argc
        var arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = CommandLine.unsafeArgv
        _ = runDriver(&count, &arguments) { bytes, count in
            Fuzzer.run(Array(UnsafeBufferPointer(start: bytes, count: count)))
            return 0
        }
    }

    /// Writes what to begin with into a folder, a file for each input.
    private static func writeSeeds(to folder: String) {
        for (index, kind) in FuzzedInput.allCases.enumerated() {
            for (number, seed) in kind.seeds.enumerated() {
                FileManager.default.createFile(atPath: "\(folder)/\(kind)-\(number)", contents: Data([UInt8(index)] + seed))
            }
        }
    }

    private static func run(_ bytes: [UInt8]) {
        guard let first = bytes.first, FuzzedInput.allCases.indices.contains(Int(first)) else { return }
        let kind = FuzzedInput.allCases[Int(first)]
        let input = Array(bytes.dropFirst())
        // libFuzzer waits for each input.
        let isDone = DispatchSemaphore(value: 0)
        Task {
            if let fault = await kind.fault(in: input) { fatalError("\(kind): \(fault)") }
            isDone.signal()
        }
        isDone.wait()
    }
}

/// `LLVMFuzzerRunDriver` of libFuzzer.
@_silgen_name("LLVMFuzzerRunDriver")
private func runDriver(
    _ count: UnsafeMutablePointer<CInt>,
    _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?>,
    _ callback: @convention(c) (UnsafePointer<UInt8>?, Int) -> CInt
) -> CInt
