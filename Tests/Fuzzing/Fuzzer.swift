import Dispatch
import Foundation
import FuzzedInputs

// What libFuzzer calls, which has the program's entry: `Tests/Fuzzing/run` builds the program with it. It changes those inputs that
// have made the program do something new. The first byte of an input says of which kind the others are.

/// Called once at the start: only writes what to begin with where that is asked for.
@_cdecl("LLVMFuzzerInitialize")
public func initialize(
    _ count: UnsafeMutablePointer<CInt>,
    _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?>
) -> CInt {
    guard let folder = ProcessInfo.processInfo.environment["HEARTH_FUZZING_SEEDS"] else { return 0 }
    do {
        try FuzzedInput.writeSeeds(toFolder: folder)
    } catch {
        fatalError("What to begin with can't be written to \(folder): \(error)")
    }
    exit(0)
}

/// Tries an input; ends the program when something is wrong with what comes of it.
@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = Array(UnsafeBufferPointer(start: bytes, count: count))
    guard let first = input.first, FuzzedInput.allCases.indices.contains(Int(first)) else { return 0 }
    let kind = FuzzedInput.allCases[Int(first)]
    // libFuzzer waits for each input.
    let isDone = DispatchSemaphore(value: 0)
    Task {
        if let fault = await kind.fault(in: Array(input.dropFirst())) { fatalError("\(kind): \(fault)") }
        isDone.signal()
    }
    isDone.wait()
    return 0
}
