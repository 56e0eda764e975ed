/// The calls between the functions of a file.
struct CallGraph: Sendable {
    /// The functions that each function calls.
    private(set) var callees: [[Int]] = []
    /// The functions that are called from anywhere.
    private(set) var called = Set<Int>()

    mutating func addFunction() {
        callees.append([])
    }

    mutating func add(_ callee: Program.FunctionID, from caller: Program.FunctionID?) {
        called.insert(callee.index)
        guard let caller, !callees[caller.index].contains(callee.index) else { return }
        callees[caller.index].append(callee.index)
    }

    /// The longest chains of calls from each function.
    struct Chains {
        /// The number of functions on the stack, with the function itself; 0 for one that leads to a recursion.
        var lengths: [Int]
        /// The next function of the chain.
        var next: [Int?]
        /// The functions that call themselves, directly or not.
        var recursive: [Int]
    }

    /// Returns the longest chains, without recursion of its own: a file may have thousands of functions.
    func chains() -> Chains {
        var callers = [[Int]](repeating: [], count: callees.count)
        for (caller, callees) in callees.enumerated() {
            for callee in callees { callers[callee].append(caller) }
        }
        var chains = Chains(
            lengths: Array(repeating: 0, count: callees.count),
            next: Array(repeating: nil, count: callees.count),
            recursive: []
        )
        let resolved = Self.peel(callees, callers) { function in
            let longest = callees[function].max { chains.lengths[$0] < chains.lengths[$1] }
            chains.next[function] = longest
            chains.lengths[function] = (longest.map { chains.lengths[$0] } ?? 0) + 1
        }
        // A function is part of a recursion if neither its callees nor its callers end somewhere.
        let unreached = Self.peel(callers, callees) { _ in }
        chains.recursive = callees.indices.filter { !resolved[$0] && !unreached[$0] }
        return chains
    }

    /// Visits every function after all its successors, and returns which could be visited.
    private static func peel(_ successors: [[Int]], _ predecessors: [[Int]], visit: (Int) -> Void) -> [Bool] {
        var open = successors.map(\.count)
        var ready = open.indices.filter { open[$0] == 0 }
        var isVisited = [Bool](repeating: false, count: open.count)
        while let function = ready.popLast() {
            visit(function)
            isVisited[function] = true
            for predecessor in predecessors[function] {
                open[predecessor] -= 1
                if open[predecessor] == 0 { ready.append(predecessor) }
            }
        }
        return isVisited
    }
}

extension Compiler {
    /// Reports recursion, deep stacks of calls and functions that are not called.
    mutating func checkCalls() {
        let chains = calls.chains()
        for function in chains.recursive {
            diagnostics.error("Recursive call is not allowed.", at: program.functions[function].name.range)
        }
        for (index, function) in program.functions.enumerated() {
            if !calls.called.contains(index) {
                diagnostics.warn("Unused function: \(function.name.name.excerpt).", at: function.name.range)
            }
            // Only the head of a chain that is too long by one, so that its callers are not reported as well.
            guard chains.lengths[index] == RulesLimits.callStack + 1 else { continue }
            var stack: [String] = []
            var current: Int? = index
            while let next = current {
                stack.append(program.functions[next].name.name.excerpt)
                current = chains.next[next]
            }
            diagnostics.error(
                "Maximum allowed call depth of 20 is reached for [\(stack.joined(separator: "->"))] call stack.",
                at: function.name.range
            )
        }
    }
}
