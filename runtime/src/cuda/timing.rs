//! Timing by events, one launch each.
use super::{driver::check, launch::Function};
use cudarc::driver::{result, sys};
use girih_core::device::{Buffer, Launch, Result};

/// Events that are destroyed whatever happens.
struct Events(Vec<sys::CUevent>);

impl Events {
    fn add(&mut self) -> Result<sys::CUevent> {
        let event = check(
            "cuEventCreate",
            result::event::create(sys::CUevent_flags::CU_EVENT_DEFAULT),
        )?;
        self.0.push(event);
        Ok(event)
    }
}

impl Drop for Events {
    fn drop(&mut self) {
        for event in self.0.drain(..) {
            // SAFETY: created by `add`, destroyed once.
            super::report(
                "cuEventDestroy",
                check("destroy", unsafe { result::event::destroy(event) }),
            );
        }
    }
}

/// Seconds of each of `repetitions` launches on the legacy default stream, after one that is not counted. `flush` is
/// overwritten before each, outside the measured span.
pub(super) fn time(
    function: &Function,
    launch: &Launch<'_>,
    repetitions: usize,
    flush: Option<Buffer>,
) -> Result<Vec<f64>> {
    let stream = std::ptr::null_mut();
    // SAFETY: the function is of the current context; null is the legacy default stream.
    unsafe { function.launch(launch, stream) }?;
    let mut events = Events(Vec::new());
    let mut spans = Vec::with_capacity(repetitions);
    for _ in 0..repetitions {
        if let Some(buffer) = flush {
            // SAFETY: the buffer is allocated and that long.
            let answer = unsafe { result::memset_d8_async(buffer.address, 0, buffer.bytes, stream.cast()) };
            check("overwriting the L2 cache", answer)?;
        }
        let (start, end) = (events.add()?, events.add()?);
        // SAFETY: the events are of the current context.
        check("cuEventRecord", unsafe { result::event::record(start, stream.cast()) })?;
        // SAFETY: as for the first launch.
        unsafe { function.launch(launch, stream) }?;
        // SAFETY: as above.
        check("cuEventRecord", unsafe { result::event::record(end, stream.cast()) })?;
        spans.push((start, end));
    }
    check("the kernel failed while it was timed", result::ctx::synchronize())?;
    let elapsed = |(start, end)| {
        // SAFETY: both events were recorded and the context is idle.
        let milliseconds = check("cuEventElapsedTime", unsafe { result::event::elapsed(start, end) })?;
        Ok(f64::from(milliseconds) * 1e-3)
    };
    spans.into_iter().map(elapsed).collect()
}
