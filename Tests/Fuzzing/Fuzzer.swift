import Dispatch
import Foundation
import FuzzedInputs

// The entry points of libFuzzer, which provides `main`; `Tests/Fuzzing/run` builds the program with it. The first byte of an input
// selects its kind.

/// Initializes the fuzzer. With `HEARTH_FUZZING_SEEDS` set, only writes the seed corpus to that folder and exits.
@_cdecl("LLVMFuzzerInitialize")
public func initialize(
    _ count: UnsafeMutablePointer<CInt>,
    _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?>
) -> CInt {
    guard let folder = ProcessInfo.processInfo.environment["HEARTH_FUZZING_SEEDS"] else { return 0 }
    do {
        try FuzzedInput.writeSeeds(toFolder: folder)
    } catch {
        fatalError("Cannot write the seed corpus to \(folder): \(error)")
    }
    exit(0)
}

/// Checks one input; traps on a violation.
@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = Array(UnsafeBufferPointer(start: bytes, count: count))
    guard let first = input.first, FuzzedInput.allCases.indices.contains(Int(first)) else { return 0 }
    let kind = FuzzedInput.allCases[Int(first)]
    // libFuzzer waits for each input.
    let isDone = DispatchSemaphore(value: 0)
    Task {
        if let violation = await kind.check(Array(input.dropFirst())) { fatalError("\(kind): \(violation)") }
        isDone.signal()
    }
    isDone.wait()
    return 0
}
