sdc 1
policy "Turnover {focus}"

param focus = North
